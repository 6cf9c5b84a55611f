"""The errors that users meet; every message names the argument, its value and what was expected."""


class OracleError(Exception):
    """Any failure that dp-oracle reports on purpose.

        >>> import dp_oracle
        >>> try:
        ...     dp_oracle.bound("laplace.delta").reference(scale=-1, sensitivity=1, epsilon=0)
        ... except dp_oracle.OracleError as error:
        ...     print(error)
        scale = -1 is outside its domain: a real number > 0
    """


class DomainError(OracleError, ValueError):
    """An input lies outside the domain on which a bound, an algorithm or a claim is defined."""


class PrecisionError(OracleError):
    """The asked width could not be certified within the precision limit."""


class TargetError(OracleError):
    """Code under test (an implementation, a training function) does not work as a target."""


class TargetTimeout(TargetError):
    """Code under test did not answer in the time that it has."""


class NameTakenError(OracleError, ImportError):
    """A package of a user's own has the name of one of ours that is needed (`oracle.core.rooms`)."""


class WorkLostError(OracleError):
    """The machine gave out: processes that worked for us died, or there are none left; no verdict, of anything."""


class OutputError(OracleError):
    """A file that could not be written, though it could be before the work."""


class MissingExtraError(OracleError, ModuleNotFoundError):
    """A library is not installed that an extra of dp-oracle brings (`oracle.core.extras`)."""


class VectorError(OracleError):
    """A file of test vectors is missing, broken or not what it says it is."""
