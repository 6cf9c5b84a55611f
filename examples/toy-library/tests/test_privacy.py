"""Every certified case of the two bounds that toydp implements, one test each."""

import toydp

from dp_oracle import conformance

test_epsilon = conformance("gaussian.epsilon", toydp.epsilon, slack=1.05)
test_composed_epsilon = conformance(
    "gaussian-composed.epsilon", toydp.composed_epsilon, xfail="dp-oracle-xfail.toml"
)
