"""Load for servers, bottom-up: requests and answers (:mod:`protocols`), one connection (:mod:`client`),
the whole session beside the server (:mod:`session`).
"""
