"""Tasks as data: versioned YAML files for lm-eval's ``--include_path``."""
