# Listens to RSpec beside the project's formatters. Added before the suite, when those are known:
# a formatter that is added earlier would take the place of the default one.
require "json"

class JourneymanListener
  def initialize
    @path = File.join(File.dirname(__dir__), "reports", "rspec.#{Process.pid}.jsonl")
    write(begin: "rspec", is_part: false)
  end

  def example_passed(notification) = add(notification.example, "passed")
  def example_failed(notification) = add(notification.example, "failed")
  def example_pending(notification) = add(notification.example, "skipped")

  def dump_summary(summary)
    summary.errors_outside_of_examples_count.times do |number|
      write(id: "error outside of examples #{number + 1}", outcome: "failed")
    end
    write(end: 0)
  end

  private

  def add(example, outcome)
    result = example.execution_result
    message = result.exception&.message || result.pending_message
    write(id: "#{example.file_path.delete_prefix("./")} > #{example.full_description}", outcome: outcome,
          file: example.file_path, seconds: result.run_time, message: message.to_s[0, 4000])
  end

  def write(record)
    File.write(@path, "#{JSON.generate(record)}\n", mode: "a")
  end
end

RSpec.configure do |config|
  config.before(:suite) do
    config.reporter.register_listener(
      JourneymanListener.new, :example_passed, :example_failed, :example_pending, :dump_summary
    )
  end
end
