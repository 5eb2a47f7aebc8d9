"""Bodies of the commands of `paretoid`; each imports what it needs when it runs."""
