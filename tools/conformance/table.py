def make(a,b): pass
