#pragma once

// Everything: filters, plans, files, and the engines for bulk operations.

#include <octobloom/any_filter.h>
#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/engines.h>
#include <octobloom/error.h>
#include <octobloom/facts.h>
#include <octobloom/file.h>
#include <octobloom/file_lock.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/hash.h>
#include <octobloom/mapped_filter.h>
#include <octobloom/opened.h>
#include <octobloom/plan.h>
#include <octobloom/set_operations.h>
#include <octobloom/shared_filter.h>
#include <octobloom/statistics.h>
#include <octobloom/version.h>
#include <octobloom/windowed_filter.h>
