"""Why a run has no more goodput: causes, the same run without a burst, and worst cases."""
