"""Every setting, declared once: name, type, default, check and explanation together."""
