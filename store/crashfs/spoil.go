package crashfs

import (
	"math/rand/v2"
	"slices"
)

// Spoiled returns a copy of data with one bit changed, or one sector.
func Spoiled(data []byte, bit bool, rng *rand.Rand) []byte {
	bad := slices.Clone(data)
	if bit {
		bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		return bad
	}
	sector := 512 * rng.IntN(len(bad)/512)
	for i := range 512 {
		bad[sector+i] = byte(rng.Uint32())
	}
	return bad
}
