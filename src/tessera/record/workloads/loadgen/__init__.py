"""Load for servers, bottom-up: what is stored and asked (:mod:`protocols`), one connection (:mod:`client`),
the whole session beside the server (:mod:`session`).
"""
