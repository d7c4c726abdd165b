#include "base/rows_writer.hpp"

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kCellsPerBlock = 32768;
constexpr std::size_t kBlocksPerThread = 4;

}  // namespace

bool write_rows(OutputFile& file, const RowsJob& job, const RowFormatter& format, const RunContext& context) {
  const Blocks blocks{job.rows, std::max<std::size_t>(kCellsPerBlock / std::max<std::size_t>(job.cells_per_row, 1), 1)};
  const std::size_t window = kBlocksPerThread * context.threads();
  std::vector<TextBuffer> texts(std::min(window, blocks.count()));
  std::vector<std::uint64_t> offsets(texts.size());
  for (std::size_t first = 0; first < blocks.count(); first += window) {
    if (context.cancelled()) return false;
    const std::size_t count = std::min(window, blocks.count() - first);
    context.pool().for_each_block(count, [&](std::size_t b, unsigned) {
      texts[b].clear();
      format(blocks.begin(first + b), blocks.end(first + b), texts[b]);
    });
    std::uint64_t end = file.size();
    for (std::size_t b = 0; b < count; ++b) {
      offsets[b] = end;
      end += texts[b].size();
    }
    context.pool().for_each_block(count, [&](std::size_t b, unsigned) { file.write_at(offsets[b], texts[b].text()); });
    file.extend_to(end);
    context.report({.stage = job.stage,
                    .done = static_cast<double>(blocks.end(first + count - 1)),
                    .total = static_cast<double>(job.rows)});
  }
  return !context.cancelled();
}

}  // namespace wisecrowd
