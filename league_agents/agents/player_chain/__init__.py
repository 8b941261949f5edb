"""The steps of the player that uses a model. The model writes and predicts; code chooses, infers and looks up."""
