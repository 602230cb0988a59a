"""What of ours stands for what the Mitosis paper prints."""

#: Our region of memory -> the one that Table 5 prints in its place: the largest that fits in the guest.
PRINTED_REGION = {"1GB": "4GB"}
