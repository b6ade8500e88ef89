"""OpenAI's chat completions, which most servers of models speak."""
