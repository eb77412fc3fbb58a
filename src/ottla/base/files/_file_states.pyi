"""What `_file_states.pyx` offers: the function of `_plain_file_states`, where it is documented."""

def file_states(
    paths: list[bytes], descriptors: list[int], positions: list[int]
) -> list[tuple[int, int, int, bool] | None]: ...
