"""Tables and models on disk: what comes from outside is doubted before it is believed."""
