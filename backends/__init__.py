"""Who answers: language models that lm-eval does not ship."""
