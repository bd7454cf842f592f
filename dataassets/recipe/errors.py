"""The one error of a recipe: file, key path, value met, value wanted, mend."""


class RecipeError(ValueError):
    """A recipe, or the data that it names, is not what it should be."""
