package payments

import (
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"

	"posagent/schemes/money"
)

// Line is an item of a basket in money: what the order lines of a webhook say (S0 6.3). Gross = Net + Tax and
// Net = UnitPrice × Quantity, always; what rounding leaves over is in Tax.
type Line struct {
	UnitPrice       money.Minor // without VAT
	Quantity        int32
	TaxBasisPoints  int32 // 2500 = 25 %, fractions of a basis point cut off
	Gross, Net, Tax money.Minor
}

// Total is what a basket may come to. Without fractions of a minor unit Low = High. Where an item does not say its VAT (a
// percentage above 0), S0 2.3 leaves open what comes on top of its price: anything from nothing to the price again.
type Total struct {
	Full      money.Minor // quantity × unitPrice, discounts not applied
	Low, High money.Minor // discounts applied: every line rounded down, and up
	Up, Down  money.Minor // the most VAT on top of the lines above zero and below it
}

// Fits says whether a payment of amount may carry a basket with this total: its full price, or its price with
// discounts, each line rounded either way; and the VAT on top where that is open.
func (t Total) Fits(amount money.Minor) bool {
	return t.discounted(amount) || t.within(amount, t.Full, t.Full)
}

// discounted says whether amount is the price with discounts.
func (t Total) discounted(amount money.Minor) bool { return t.within(amount, t.Low, t.High) }

// within says whether amount lies between low and high, with the VAT on top.
func (t Total) within(amount, low, high money.Minor) bool {
	least, err := money.Add(low, t.Down)
	most, tooHigh := money.Add(high, t.Up)
	return err == nil && tooHigh == nil && least <= amount && amount <= most
}

// String says what the basket comes to, in minor units.
func (t Total) String() string {
	said := strconv.FormatInt(int64(t.Full), 10)
	if t.Low != t.Full || t.High != t.Full {
		said += ", with its discounts " + strconv.FormatInt(int64(t.Low), 10)
		if t.High != t.Low {
			said += " to " + strconv.FormatInt(int64(t.High), 10)
		}
	}
	if t.Up != 0 || t.Down != 0 {
		said += ", and VAT on top that it does not say"
	}
	return said
}

// Differs says that a basket of this total is not about amount, which is what.
func (t Total) Differs(amount money.Minor, what string) string {
	return "its items come to " + t.String() + "; " + what + " is " + strconv.FormatInt(int64(amount), 10) + " (in minor units)"
}

// vatKnown returns whether an item's price includes its VAT.
func (i BasketItem) vatKnown() bool {
	p, err := readPercent(i.VatPercentage)
	return err == nil && p.n != 0
}

// BasketTotal adds a basket up, exactly. The error is money.ErrAmount for a percentage that is none, or money.ErrOverflow.
func BasketTotal(items []BasketItem) (Total, error) {
	var t Total
	for _, item := range items {
		full := money.Minor(int64(item.Quantity) * int64(item.UnitPrice)) // 62 bits at most
		low, high, err := item.discounted(full)
		up, down := max(full, 0), min(full, 0)
		if item.vatKnown() {
			up, down = 0, 0
		}
		for _, s := range []struct {
			sum *money.Minor
			add money.Minor
		}{{&t.Full, full}, {&t.Low, low}, {&t.High, high}, {&t.Up, up}, {&t.Down, down}} {
			if err == nil {
				*s.sum, err = money.Add(*s.sum, s.add)
			}
		}
		if err != nil {
			return Total{}, err
		}
	}
	return t, nil
}

// Lines gives a basket that fits amount as order lines whose Gross add up to amount exactly.
func Lines(items []BasketItem, amount money.Minor) ([]Line, error) {
	t, err := BasketTotal(items)
	if err != nil {
		return nil, err
	}
	full := amount == t.Full || !t.discounted(amount)
	spare := amount - t.Low // to be given to the lines that were rounded down
	if full {
		spare = amount - t.Full
	}
	out := make([]Line, 0, len(items))
	for _, item := range items {
		gross := money.Minor(int64(item.Quantity) * int64(item.UnitPrice))
		if !full {
			low, high, err := item.discounted(gross)
			if err != nil {
				return nil, err
			}
			if gross = low; spare > 0 && high > low {
				gross, spare = high, spare-1
			}
		}
		line, err := item.line(gross)
		if err != nil {
			return nil, err
		}
		out = append(out, line)
	}
	if t.Fits(amount) {
		onTop(items, out, t, spare)
	}
	return out, nil
}

// onTop gives the lines that do not say their VAT what an amount has beyond them, each by its price: rest in all.
func onTop(items []BasketItem, lines []Line, t Total, rest money.Minor) {
	of := t.Up
	if rest < 0 {
		of = t.Down
	}
	passed, given := money.Minor(0), money.Minor(0)
	for i, item := range items {
		price := money.Minor(int64(item.Quantity) * int64(item.UnitPrice))
		if item.vatKnown() || price == 0 || (price < 0) != (rest < 0) {
			continue
		}
		passed += price
		share := roundDiv(rest, uint64(max(passed, -passed)), uint64(max(of, -of))) - given
		given += share
		l := &lines[i]
		l.Gross, l.Tax = l.Gross+share, l.Tax+share
		if tax, net := max(share, -share), max(l.Net, -l.Net); tax > 0 { // 100 % at most: the discount may leave less than the tax
			l.TaxBasisPoints = int32(roundDiv(min(tax, net), 10_000, uint64(max(net, 1))))
		}
	}
}

func (i BasketItem) line(gross money.Minor) (Line, error) {
	vat, err := readPercent(i.VatPercentage)
	if err != nil {
		return Line{}, err
	}
	hundred := 100 * tens(vat.scale)
	net := gross
	if vat.n > 0 {
		net = roundDiv(gross, hundred, hundred+vat.n)
	}
	l := Line{Quantity: max(i.Quantity, 1), Gross: gross, TaxBasisPoints: int32(vat.basisPoints())}
	l.UnitPrice = roundDiv(net, 1, uint64(l.Quantity))
	l.Net = l.UnitPrice * money.Minor(l.Quantity)
	l.Tax = gross - l.Net
	return l, nil
}

// discounted is full × (100 − discountPercentage) / 100, rounded down and up.
func (i BasketItem) discounted(full money.Minor) (low, high money.Minor, err error) {
	p, err := readPercent(i.DiscountPercentage)
	if err != nil {
		return 0, 0, err
	}
	hundred := 100 * tens(p.scale)
	quo, rem := mulDiv(full, hundred-p.n, hundred)
	low, high = quo, quo
	if rem != 0 {
		if high++; full < 0 {
			low, high = -high, -quo
		}
	} else if full < 0 {
		low, high = -quo, -quo
	}
	return low, high, nil
}

// mulDiv divides |n| × mul by div in 128 bits; mul ≤ div, so the quotient fits.
func mulDiv(n money.Minor, mul, div uint64) (quo money.Minor, rem uint64) {
	hi, lo := bits.Mul64(uint64(max(n, -n)), mul)
	q, rem := bits.Div64(hi, lo, div)
	return money.Minor(q), rem
}

// roundDiv is n × mul / div with halves away from zero.
func roundDiv(n money.Minor, mul, div uint64) money.Minor {
	quo, rem := mulDiv(n, mul, div)
	if rem >= div-rem {
		quo++
	}
	if n < 0 {
		return -quo
	}
	return quo
}

// percent is n / 10^scale of a hundred.
type percent struct {
	n     uint64
	scale int
}

const maxScale = 16 // 2 × 100 × 10^16 fits 64 bits

// readPercent reads 0 to 100, as any JSON number, rounded to maxScale decimals: a double may have more. nil is 0.
func readPercent(text *json.Number) (percent, error) {
	if text == nil {
		return percent{}, nil
	}
	s, negative := strings.CutPrefix(string(*text), "-")
	s, power, hasPower := strings.Cut(strings.ToLower(s), "e")
	whole, frac, _ := strings.Cut(s, ".")
	exp := 0
	if hasPower {
		var err error
		if exp, err = strconv.Atoi(power); err != nil || exp > 400 || exp < -400 {
			return percent{}, money.ErrAmount
		}
	}
	p, digits := percent{scale: len(frac) - exp}, strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return percent{}, nil
	}
	for p.scale > 0 && strings.HasSuffix(digits, "0") {
		digits, p.scale = digits[:len(digits)-1], p.scale-1
	}
	for ; p.scale < 0 && len(digits) < 4; p.scale++ {
		digits += "0"
	}
	up := uint64(0)
	if over := p.scale - maxScale; over > 0 {
		digits = strings.Repeat("0", max(0, over+1-len(digits))) + digits
		if digits[len(digits)-over] >= '5' {
			up = 1
		}
		digits, p.scale = digits[:len(digits)-over], maxScale
	}
	var err error
	if p.n, err = strconv.ParseUint(digits, 10, 64); err != nil || negative || p.scale < 0 || p.n > 100*tens(p.scale)-up {
		return percent{}, money.ErrAmount
	}
	p.n += up
	return p, nil
}

func (p percent) basisPoints() uint64 {
	if p.scale <= 2 {
		return p.n * tens(2-p.scale)
	}
	return p.n / tens(p.scale-2)
}

func tens(e int) uint64 {
	n := uint64(1)
	for range e {
		n *= 10
	}
	return n
}
