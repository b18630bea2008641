#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "interpreter/parser.h"

namespace octobloom::ptx {

// Basic blocks in a weak topological order (Bourdoncle), in which a loop is contiguous, after its
// header, and everything it exits to comes later.
void order_function(program& p, u32 id) {
  const ptx_function& f = p.functions[id];
  std::set<u32> leaders = {f.first};
  for (u32 k = f.first; k < f.end; ++k) {
    p.fn_of[k] = id;
    const instruction& i = p.code[k];
    if (i.kind != runs_control) continue;
    if (i.fn == h_bra) leaders.insert(i.target);
    if (i.fn == h_brx)
      for (u32 t : p.tables[i.target]) leaders.insert(t);
    if (k + 1 < f.end) leaders.insert(k + 1);
  }
  std::vector<u32> starts(leaders.begin(), leaders.end());
  const u32 n = u32(starts.size());
  auto block_of = [&](u32 at) {
    return u32(std::upper_bound(starts.begin(), starts.end(), at) - starts.begin()) - 1;
  };
  std::vector<std::vector<u32>> succ(n);
  for (u32 b = 0; b < n; ++b) {
    const u32 end = b + 1 < n ? starts[b + 1] : f.end;
    const instruction& i = p.code[end - 1];
    const bool always = i.guard == predicate_true;
    if (i.fn == h_bra) succ[b].push_back(block_of(i.target));
    if (i.fn == h_brx)
      for (u32 t : p.tables[i.target]) succ[b].push_back(block_of(t));
    const bool leaves =
        i.fn == h_bra || i.fn == h_brx || i.fn == h_ret || i.fn == h_exit || i.fn == h_trap;
    if (!(leaves && always) && end < f.end) succ[b].push_back(b + 1);
  }
  std::vector<u32> number(n, 0), stack, sequence;  // sequence: reversed weak topological order
  u32 count = 0;
  std::function<u32(u32, std::vector<u32>&)> visit = [&](u32 v, std::vector<u32>& out) -> u32 {
    stack.push_back(v);
    u32 head = number[v] = ++count;
    bool loop = false;
    for (u32 s : succ[v]) {
      const u32 low = number[s] == 0 ? visit(s, out) : number[s];
      if (low <= head) {
        head = low;
        loop = true;
      }
    }
    if (head == number[v]) {
      number[v] = ~0u;
      u32 e = stack.back();
      stack.pop_back();
      if (loop) {
        while (e != v) {
          number[e] = 0;
          e = stack.back();
          stack.pop_back();
        }
        std::vector<u32> body;
        for (u32 s : succ[v])
          if (number[s] == 0) visit(s, body);
        out.insert(out.end(), body.begin(), body.end());
      }
      out.push_back(v);
    }
    return head;
  };
  visit(0, sequence);
  std::reverse(sequence.begin(), sequence.end());
  for (u32 b = 0; b < n; ++b)
    if (number[b] == 0) sequence.push_back(b);  // unreachable
  u32 place = 0;
  for (u32 b : sequence) {
    const u32 end = b + 1 < n ? starts[b + 1] : f.end;
    for (u32 k = starts[b]; k < end; ++k) p.order[k] = place++;
  }
}

}  // namespace octobloom::ptx
