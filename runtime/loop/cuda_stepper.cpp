// Chunks of steps, and graphs of them.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_stepper.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/error.hpp"

namespace ondula::loop {
namespace {

constexpr std::int64_t most_samples = 48;                   // of a chunk, and steps of a graph
constexpr std::size_t chunk_bytes = std::size_t{64} << 20;  // of its rows, if that leaves one sample
constexpr std::int64_t least_graph = 4;                     // fewer steps are launched one by one
constexpr std::size_t most_graphs = 64;                     // each holds device memory of the driver's
constexpr std::size_t clock_numbers = 4;                    // of ondula_clock

/// Samples whose rows fit in a chunk, at least one.
std::int64_t samples_of_chunk(std::size_t real, std::int64_t every, std::int64_t sources, std::int64_t rows) {
  const auto bytes =
      static_cast<std::size_t>(rows) * sizeof(double) + static_cast<std::size_t>(every * sources) * real;
  const auto fitting = static_cast<std::int64_t>(chunk_bytes / std::max<std::size_t>(bytes, 1));
  return std::clamp<std::int64_t>(fitting, 1, most_samples);
}

template <class T>
void patch(cuda::KernelLaunch& launch, std::size_t argument, const T& value) {
  std::memcpy(&launch.arguments.at(argument), &value, sizeof value);
}

/// Ends a capture that an exception left open.
class Capture {
 public:
  Capture(cuda::Session& session, cuda::Stream stream) : session_(session), stream_(stream) {
    session.call(session.functions().capture_begin, stream, cuda::capture_thread_local);
  }
  ~Capture() {
    if (!open_ || !session_.alive()) return;
    cuda::Graph graph = nullptr;
    session_.functions().capture_end.function(stream_, &graph);
    if (graph != nullptr) session_.functions().graph_destroy.function(graph);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  cuda::Graph end() {
    open_ = false;
    cuda::Graph graph = nullptr;
    session_.call(session_.functions().capture_end, stream_, &graph);
    return graph;
  }

 private:
  cuda::Session& session_;
  cuda::Stream stream_;
  bool open_ = true;
};

/// Steps of one graph: about most_samples, a whole number of samples, even, so that the present ends where it
/// began.
std::int64_t graph_steps(std::int64_t every) {
  std::int64_t samples = std::max<std::int64_t>(1, most_samples / every);
  if (samples * every % 2 != 0) samples += samples > 1 ? -1 : 1;
  return samples * every;
}

}  // namespace

CudaStepper::CudaStepper(cuda::Device& device, const cuda::LoadedModule& module, DType dtype, bool alternate,
                         bool graphs)
    : device_(device),
      session_(device.session()),
      wide_(dtype == DType::float64),
      alternate_(alternate),
      graphs_(graphs) {
  clock_ = device.allocate(clock_numbers * sizeof(std::int64_t));
  const cuda::Scope scope(*session_);
  set_clock_ = module.function("ondula_clock");
  up_ = cuda::make_stream(session_);
  down_ = cuda::make_stream(session_);
  for (Half& half : halves_) {
    half.fed = cuda::make_event(session_);
    half.computed = cuda::make_event(session_);
    half.done = cuda::make_event(session_);
  }
}

CudaStepper::~CudaStepper() {
  // Buffers go back to where others take them from: nothing may still be on its way to them.
  for (const cuda::OwnedStream* stream : {&up_, &down_})
    session_->dispose(session_->functions().stream_synchronize, stream->get());
  session_->dispose(session_->functions().stream_synchronize, device_.stream());
}

std::size_t CudaStepper::bytes(DType dtype, std::int64_t every, std::int64_t sources, std::int64_t rows) {
  const std::size_t real = dtype == DType::float64 ? sizeof(double) : sizeof(float);
  const std::int64_t samples = samples_of_chunk(real, every, sources, rows);
  return 2 * static_cast<std::size_t>(samples * every * sources) * real +
         2 * static_cast<std::size_t>(samples * rows) * sizeof(double) + clock_numbers * sizeof(std::int64_t);
}

bool CudaStepper::reserve(std::int64_t every, std::int64_t sources, std::int64_t rows) {
  every = std::max<std::int64_t>(every, 1);
  const std::size_t real = wide_ ? sizeof(double) : sizeof(float);
  const std::int64_t samples = samples_of_chunk(real, every, sources, rows);
  const std::int64_t chunk = samples * every;
  if (chunk == chunk_ && samples == chunk_rows_ && sources == sources_ && rows == rows_) return false;
  drop();
  execs_.clear();
  chunk_ = 0;  // an error on the way leaves nothing that looks ready
  const std::size_t sample_half = static_cast<std::size_t>(chunk * sources) * real;
  const std::size_t record_half = static_cast<std::size_t>(samples * rows) * sizeof(double);
  samples_.reserve(device_, 2 * sample_half);
  record_.reserve(device_, 2 * record_half);
  const cuda::Scope scope(*session_);
  for (Half& half : halves_) {
    if (sample_half > samples_room_) half.samples = cuda::make_pinned(session_, sample_half);
    if (record_half > record_room_) half.record = cuda::make_pinned(session_, record_half);
  }
  samples_room_ = std::max(samples_room_, sample_half);
  record_room_ = std::max(record_room_, record_half);
  device_.synchronize();  // the copies' own streams are not ordered after what fresh memory went through
  chunk_ = chunk;
  chunk_rows_ = samples;
  sources_ = sources;
  rows_ = rows;
  return true;
}

void CudaStepper::set_series(CudaSeries series) {
  drop();
  series_ = std::move(series);
  told_.assign(series_.count, 0.0);
  samples_end_ = 0;
  for (const std::vector<double>& samples : series_.sources)
    samples_end_ = std::max(samples_end_, static_cast<std::int64_t>(samples.size()));
}

void CudaStepper::set_steps(std::array<CudaStep, 2> steps) {
  drop();
  execs_.clear();
  steps_ = std::move(steps);
}

int CudaStepper::run(std::int64_t first, std::int64_t count, std::int64_t every, int parity,
                     const Watch& watch, const CudaSlots* slots) {
  const cuda::Scope scope(*session_);
  for (std::int64_t begun = 0; begun < count;) {
    const std::int64_t chunk = std::min(count - begun, chunk_);
    const std::size_t which = next_;
    Half& half = halves_[which];
    next_ = 1 - next_;
    collect(half, watch);  // long done: the chunk after it has been waited for
    const std::int64_t sample_place = static_cast<std::int64_t>(which) * chunk_;
    const std::int64_t record_place = static_cast<std::int64_t>(which) * chunk_rows_;
    half.recorded = watch.samples && series_.count > 0;
    half.first = first + begun;
    half.every = every;
    half.rows = (chunk + every - 1) / every;
    half.pending = true;
    feed(half, sample_place, first + begun, chunk);
    for (std::int64_t done = 0; done < chunk;) {
      const std::int64_t most = slots != nullptr ? slots->most() : chunk;
      const Block block{std::min({chunk - done, graph_steps(every), most}),
                        every,
                        parity,
                        half.recorded && rows_ > 0,
                        slots,
                        begun + done,
                        done % every};
      set_clock(first + begun + done, record_place + done / every, sample_place + done);
      if (slots != nullptr) slots->begin(block.number, block.count);
      run_block(block);
      if (slots != nullptr) slots->end(block.number, block.count);
      parity = block.parity_after(block.count, alternate_);
      done += block.count;
    }
    fetch(half, record_place);
    collect(halves_[next_], watch);
    begun += chunk;
  }
  return parity;
}

void CudaStepper::feed(Half& half, std::int64_t place, std::int64_t first, std::int64_t count) {
  const std::int64_t fed = std::clamp<std::int64_t>(samples_end_ - first, 0, count);
  if (fed == 0 || sources_ == 0) return;
  const std::size_t real = wide_ ? sizeof(double) : sizeof(float);
  const auto fill = [&](auto* values) {
    using Real = std::remove_pointer_t<decltype(values)>;
    std::fill_n(values, fed * sources_, Real(0));
    for (std::size_t s = 0; s < series_.sources.size(); ++s) {
      const std::vector<double>& samples = series_.sources[s];
      const auto size = static_cast<std::int64_t>(samples.size());
      for (std::int64_t n = std::max<std::int64_t>(first, 0); n < std::min(first + fed, size); ++n)
        values[(n - first) * sources_ + static_cast<std::int64_t>(s)] =
            static_cast<Real>(samples[static_cast<std::size_t>(n)]);
    }
  };
  if (wide_)
    fill(static_cast<double*>(half.samples.get()));
  else
    fill(static_cast<float*>(half.samples.get()));
  const cuda::Functions& f = session_->functions();
  const auto row = static_cast<std::size_t>(sources_) * real;
  session_->call(f.copy_to_device, samples_.address() + static_cast<std::size_t>(place) * row,
                 static_cast<const void*>(half.samples.get()), static_cast<std::size_t>(fed) * row,
                 up_.get());
  session_->call(f.event_record, half.fed.get(), up_.get());
  session_->call(f.stream_wait, device_.stream(), half.fed.get(), 0U);
}

void CudaStepper::fetch(Half& half, std::int64_t place) {
  const cuda::Functions& f = session_->functions();
  session_->call(f.event_record, half.computed.get(), device_.stream());
  session_->call(f.stream_wait, down_.get(), half.computed.get(), 0U);
  if (half.recorded && rows_ > 0) {
    const auto row = static_cast<std::size_t>(rows_) * sizeof(double);
    session_->call(f.copy_to_host, half.record.get(),
                   record_.address() + static_cast<std::size_t>(place) * row,
                   static_cast<std::size_t>(half.rows) * row, down_.get());
  }
  session_->call(f.event_record, half.done.get(), down_.get());
}

void CudaStepper::set_clock(std::int64_t step, std::int64_t record, std::int64_t samples) {
  constexpr std::uint32_t warp = 32;
  cuda::KernelLaunch launch;
  launch.function = set_clock_;
  launch.block = {warp, 1, 1};
  launch.add(clock()).add(step).add(record).add(samples).add(samples_end_);
  device_.enqueue(launch, device_.stream());
}

void CudaStepper::run_block(const Block& block) {
  const bool worth = graphs_ && block.count >= least_graph;
  if (const cuda::GraphExec exec = worth ? graph_of(block) : nullptr; exec != nullptr)
    session_->call(session_->functions().graph_launch, exec, device_.stream());
  else
    each_step(block, device_.stream());
}

/// Steps of a history differ from chunk to chunk, and are worth a graph where a later shot comes to the same.
cuda::GraphExec CudaStepper::graph_of(const Block& block) {
  GraphKey key = key_of(block);
  const auto found = execs_.find(key);
  if (found == execs_.end()) {
    if (execs_.size() >= most_graphs) {
      if (block.slots != nullptr) return nullptr;
      device_.synchronize();  // one that runs may not go
      execs_.clear();
    }
    cuda::OwnedGraphExec exec;
    if (block.slots == nullptr) exec = captured(block);
    return execs_.emplace(std::move(key), std::move(exec)).first->second.get();
  }
  if (!found->second) found->second = captured(block);
  return found->second.get();
}

CudaStepper::GraphKey CudaStepper::key_of(const Block& block) {
  std::vector<cuda::DevicePointer> addresses;
  for (std::int64_t k = 0; block.slots != nullptr && k < block.count; ++k) {
    CudaStep& step = steps_[static_cast<std::size_t>(block.parity_after(k, alternate_))];
    block.slots->bind(step, block.number + k);
    for (const CudaItem& item : step) {
      for (const CudaKept& kept : item.kept) addresses.push_back(item.launch.arguments.at(kept.argument));
    }
    for (const CudaCopy& copy : block.slots->copies(block.number + k, block.parity_after(k + 1, alternate_)))
      addresses.insert(addresses.end(), {copy.to, copy.from});
  }
  return {series_.shots, block.count, block.parity,        block.recorded,
          block.every,   block.phase, std::move(addresses)};
}

cuda::OwnedGraphExec CudaStepper::captured(const Block& block) {
  const cuda::Stream stream = device_.capture_stream();
  Capture capture(*session_, stream);
  each_step(block, stream);
  const cuda::OwnedGraph graph(session_, capture.end());
  cuda::GraphExec exec = nullptr;
  session_->call(session_->functions().graph_instantiate, &exec, graph.get(), 0ULL);
  return {session_, exec};
}

void CudaStepper::each_step(const Block& block, cuda::Stream stream) {
  for (std::int64_t k = 0; k < block.count; ++k) {
    CudaStep& step = steps_[static_cast<std::size_t>(block.parity_after(k, alternate_))];
    if (block.slots != nullptr) block.slots->bind(step, block.number + k);
    const std::int64_t since = block.phase + k;
    const bool sampled = block.recorded && since % block.every == 0;
    enqueue(step, k, sampled ? since / block.every : -1, stream);
    if (block.slots == nullptr) continue;
    for (const CudaCopy& copy : block.slots->copies(block.number + k, block.parity_after(k + 1, alternate_)))
      session_->call(session_->functions().copy_on_device, copy.to, copy.from, copy.bytes, stream);
  }
}

void CudaStepper::enqueue(const CudaStep& step, std::int64_t offset, std::int64_t row,
                          cuda::Stream stream) const {
  for (const CudaItem& item : step) {
    if (item.kind == CudaItem::Kind::kernel) {
      device_.enqueue(item.launch, stream, series_.shots);
      continue;
    }
    const bool sample = item.kind == CudaItem::Kind::sample;
    if (sample && row < 0) continue;
    cuda::KernelLaunch launch = item.launch;
    patch(launch, item.argument, sample ? row : offset);
    device_.enqueue(launch, stream);
  }
}

void CudaStepper::collect(Half& half, const Watch& watch) {
  if (!half.pending) return;
  session_->call(session_->functions().event_synchronize, half.done.get());
  half.pending = false;
  if (!half.recorded || !watch.samples) return;
  const auto* values = static_cast<const double*>(half.record.get());
  for (std::int64_t row = 0; row < half.rows; ++row) {
    std::fill(told_.begin(), told_.end(), 0.0);
    const double* const places = values + row * rows_;
    for (std::size_t p = 0; p < series_.receivers.size(); ++p) told_[series_.receivers[p]] += places[p];
    watch.samples(half.first + row * half.every, told_);
  }
}

void CudaStepper::finish(const Watch& watch) {
  const cuda::Scope scope(*session_);
  collect(halves_[next_], watch);
  collect(halves_[1 - next_], watch);
}

void CudaStepper::drop() {
  if (!halves_[0].pending && !halves_[1].pending) return;
  for (Half& half : halves_) half.pending = false;
  if (!session_->alive()) return;
  const cuda::Scope scope(*session_);
  for (const cuda::OwnedStream* stream : {&up_, &down_})
    session_->call(session_->functions().stream_synchronize, stream->get());
  device_.synchronize();
}

}  // namespace ondula::loop
