package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/methods"
)

// TestField2_U7LimitsHaveOneSetOfWords: the page, the verb and JSON have the three limits by their names
// in the specification, each with its unit. A definition names no unit: 5 may be minutes or seconds.
func TestField2_U7LimitsHaveOneSetOfWords(t *testing.T) {
	five := int32(5)
	d := methods.Definition{Name: "ONE", MeanDelay: 10, StaleTimeOut: &five}
	for unit, want := range map[string][3]string{
		methods.UnitMinutes: {"30 s", "5 min", "5 min"}, methods.UnitSeconds: {"30 s", "5 s", "5 min"}, methods.UnitMilliseconds: {"30 s", "5 ms", "5 min"},
	} {
		times := TimesOf(d, unit)
		age, stale, finalize := times.Texts()
		require.Equal(t, want, [3]string{age, stale, finalize}, unit)
		require.Equal(t, int64(30_000), times.StaleAgeMS)
	}
	for ms, want := range map[int64]string{0: "0 s", 90_000: "1 min 30 s", 5_400_000: "1 h 30 min", 600_000: "10 min", 1500: "1 s 500 ms"} {
		require.Equal(t, want, lengthText(ms))
	}
}
