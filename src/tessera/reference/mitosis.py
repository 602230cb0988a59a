"""Our results that correspond to the numbers printed in the Mitosis paper."""

#: Our region of memory -> the one that Table 5 prints in its place: the largest that fits in the guest.
PRINTED_REGION = {"1GB": "4GB"}
