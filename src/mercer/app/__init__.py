"""The program ``mercer``: its commands, what they show, and the main job, from a table to a model."""
