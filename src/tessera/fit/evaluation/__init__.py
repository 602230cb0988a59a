"""How good a fitted model is: errors, cross validation, intervals, protocols, and the order of layouts."""
