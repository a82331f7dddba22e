def work():
    raise KeyboardInterrupt


work()
