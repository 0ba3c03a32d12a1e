package deletedrows

// Pieces is a watch that counts so many numbers at a time.
func Pieces(n int64) *Watch { return &Watch{piece: n} }
