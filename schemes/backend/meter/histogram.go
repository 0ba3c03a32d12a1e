package meter

import "time"

// bounds are the upper ends of a histogram's classes. A request that takes longer than the last one has met its client's patience.
var bounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// histogram counts durations. Its owner locks it.
type histogram struct {
	classes [len(bounds) + 1]uint64 // the last one has no end
	sum     time.Duration
}

func (h *histogram) add(took time.Duration) {
	h.sum += took
	for i, end := range bounds {
		if took <= end {
			h.classes[i]++
			return
		}
	}
	h.classes[len(bounds)]++
}

// write writes the values of a histogram, each class with those below it.
func (h *histogram) write(p *Page, name string, labels ...string) {
	var n uint64
	for i, in := range h.classes {
		n += in
		end := "+Inf"
		if i < len(bounds) {
			end = number(bounds[i].Seconds())
		}
		p.Value(name+"_bucket", float64(n), append(labels[:len(labels):len(labels)], "le", end)...)
	}
	p.Value(name+"_sum", h.sum.Seconds(), labels...)
	p.Value(name+"_count", float64(n), labels...)
}

func (h *histogram) count() (n uint64) {
	for _, in := range h.classes {
		n += in
	}
	return n
}
