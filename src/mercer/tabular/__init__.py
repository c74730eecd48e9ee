"""The main job: from a table and the name of a column to a model that predicts it. What is shown of it is the app's."""
