"""Wire formats: how each kind of model API writes requests and answers, a module or package for each."""
