"""Results of commands: tables for people, JSON and YAML for programs."""
