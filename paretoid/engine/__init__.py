"""The compiled loops of our own members. Private; `paretoid.loop` says in NumPy what they do."""
