"""tools/bench-report: measures, and makes one page of it."""
