package printqueue_test

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/counter/printqueue"
	"posagent/cross/need"
	"posagent/device/printer"
	"posagent/device/printer/printertest"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/store"
)

var update = flag.Bool("update", false, "write the golden files")

// press keeps the bytes of each document that is printed.
type press struct {
	profile printer.Profile
	mu      sync.Mutex
	out     [][]byte
}

func (*press) Check(context.Context) error { return nil }
func (p *press) Print(_ context.Context, d printer.Document) error {
	data, err := printer.Encode(p.profile, d)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = append(p.out, data)
	return err
}
func (*press) Stats() printer.Stats { return printer.Stats{} }
func (*press) Close() error         { return nil }

// labels are methods' names in the letters of the languages below.
var labels = map[string]string{"de": "Grüne Bezahlkarte", "en": "Swish", "pl": "Błyskawiczna płatność"}

// facts is what must stand on each receipt, by language and kind, with one blank between left and right. It was written by hand.
var facts = map[string]map[string][]string{
	"de": {
		"customer": {"Kundenbeleg", "Zahlung 12,50 EUR", "Zahlung erfolgt", "Grüne Bezahlkarte", "Beleg 0042"},
		"merchant": {"Händlerbeleg", "Zahlung 12,50 EUR", "Zahlung erfolgt"},
		"refund":   {"Kundenbeleg", "Gutschrift 2,50 EUR", "Gutschrift erfolgt", "Original-Trace 000317"},
		"reversal": {"Kundenbeleg", "Storno 999.999.999,99 EUR", "Storno erfolgt"},
		"declined": {"Kundenbeleg", "KOPIE", "Zahlung 1.234.567 JPY", "Abgelehnt"},
		"copy":     {"Kundenbeleg", "KOPIE", "Zahlung 12,50 EUR"},
		"day":      {"Kassenschnitt", "Zahlungen 40 1.234,50 EUR", "Gutschriften 2 -34,50 EUR", "Summe 1.200,00 EUR"},
		"day-copy": {"Kassenschnitt", "KOPIE", "Summe 1.200,00 EUR"},
	},
	"en": {
		"customer": {"Customer receipt", "Payment 12.50 EUR", "Approved", "Swish", "Receipt 0042"},
		"merchant": {"Merchant receipt", "Payment 12.50 EUR", "Approved"},
		"refund":   {"Customer receipt", "Refund 2.50 EUR", "Refunded", "Original trace 000317"},
		"reversal": {"Customer receipt", "Reversal 999,999,999.99 EUR", "Reversed"},
		"declined": {"Customer receipt", "COPY", "Payment 1,234,567 JPY", "Declined"},
		"copy":     {"Customer receipt", "COPY", "Payment 12.50 EUR"},
		"day":      {"End of day", "Payments 40 1,234.50 EUR", "Refunds 2 -34.50 EUR", "Total 1,200.00 EUR"},
		"day-copy": {"End of day", "COPY", "Total 1,200.00 EUR"},
	},
	"pl": {
		"customer": {"Odcinek dla klienta", "Płatność 12,50 EUR", "Zapłacono", "Błyskawiczna płatność", "Paragon 0042"},
		"merchant": {"Odcinek dla sprzedawcy", "Płatność 12,50 EUR", "Zapłacono"},
		"refund":   {"Odcinek dla klienta", "Zwrot 2,50 EUR", "Zwrócono", "Trace oryginału 000317"},
		"reversal": {"Odcinek dla klienta", "Anulowanie 999 999 999,99 EUR", "Anulowano"},
		"declined": {"Odcinek dla klienta", "KOPIA", "Płatność 1 234 567 JPY", "Odmowa"},
		"copy":     {"Odcinek dla klienta", "KOPIA", "Płatność 12,50 EUR"},
		"day":      {"Zamknięcie dnia", "Płatności 40 1234,50 EUR", "Zwroty 2 -34,50 EUR", "Razem 1200,00 EUR"},
		"day-copy": {"Zamknięcie dnia", "KOPIA", "Razem 1200,00 EUR"},
	},
}

// codes is what the code on a receipt says, by kind; "" = it has none.
var codes = map[string]string{"customer": "R7/42 T9007199254740991", "merchant": "R7/42 T9007199254740991", "copy": "R7/42 T9007199254740991"}

// receiptsIn prints every kind of receipt in a language, the ones of the checkout by their commits and the others by name.
func receiptsIn(t *testing.T, language string, prof printer.Profile) map[string][]byte {
	t.Helper()
	s, p := newShop(t), &press{profile: prof}
	sale := s.books.sales["k42"]
	sale.Label = labels[language]
	s.books.sales["k42"] = sale
	refund, reversal, declined := sale, sale, sale
	refund.Kind, refund.Amount, refund.Receipt, refund.Trace, refund.OriginalTrace, refund.MerchantCopy = ecr.Refund, 250, 43, 318, 317, false
	reversal.Kind, reversal.Amount, reversal.Receipt, reversal.Trace, reversal.OriginalTrace = ecr.Reversal, 99999999999, 44, 319, 317
	declined.Result, declined.Code, declined.Receipt, declined.Batch, declined.Trace = ecr.Declined, ecr.RejectedByScheme, 0, 0, 0
	declined.Amount, declined.Currency, declined.TransactionID = 1234567, "JPY", ""
	s.books.sales["k43"], s.books.sales["k44"], s.books.sales["k45"] = refund, reversal, declined
	x, _ := s.start(p, func(o *printqueue.Options) {
		o.Head.Language, o.Head.MerchantName = language, "Bäckerei Żółw & Söhne"
	})
	ended := func(key string, kind ecr.Kind) {
		now := row(key, kind, checkout.Done, ecr.Approved)
		now.Method.MerchRcptReq = nil
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return x.SaleChanged(tx, row(key, kind, checkout.Forward, ""), now) }))
	}
	s.confirm(x, "k42")
	ended("k43", ecr.Refund)
	ended("k44", ecr.Reversal)
	s.allPrinted()
	again := func(printed bool, err error) { require.NoError(t, err); require.True(t, printed) }
	again(x.Reprint(t.Context(), "k45", receipt.Customer))
	again(x.Reprint(t.Context(), "k42", receipt.Customer))
	require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return x.BatchClosed(tx, 7) }))
	s.allPrinted()
	again(x.ReprintDay(t.Context(), 7))
	p.mu.Lock()
	defer p.mu.Unlock()
	names := []string{"customer", "merchant", "refund", "reversal", "declined", "copy", "day", "day-copy"}
	require.Len(t, p.out, len(names))
	all := map[string][]byte{}
	for i, name := range names {
		all[name] = p.out[i]
	}
	return all
}

// TestReceipts holds the bytes of every kind of receipt. A printer that shares no code with the encoder draws the stored bytes, and
// a decoder that shares none with either reads the code from that picture.
func TestReceipts(t *testing.T) {
	var pictures []picture
	for _, width := range []string{"58mm", "80mm"} {
		prof, err := printer.Named(width)
		require.NoError(t, err)
		for language := range facts {
			for kind, data := range receiptsIn(t, language, prof) {
				name := fmt.Sprintf("%s-%s-%s", language, kind, width)
				path := filepath.Join("testdata", "receipts", name+".hex")
				if *update {
					require.NoError(t, os.WriteFile(path, []byte(hex.Dump(data)), 0o644))
				}
				golden, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, string(golden), hex.Dump(data), name)

				out := printertest.New(printertest.Config{Columns: prof.Columns, Dots: prof.Dots, Kanji: prof.Kanji})
				require.Empty(t, out.Take(undump(t, golden)), "a receipt asks nothing")
				require.Empty(t, out.Strange(), name)
				listing := strings.Join(strings.Fields(out.Listing()), " ") // no-break blanks too
				for _, fact := range facts[language][kind] {
					require.Contains(t, listing, fact, name)
				}
				require.Equal(t, strings.HasSuffix(kind, "copy") || kind == "declined", strings.Contains(listing, "KOPI") || strings.Contains(listing, "COPY"), name)
				pictures = append(pictures, picture{name, codes[kind], out.PNG})
			}
		}
	}
	t.Run("their codes are read", func(t *testing.T) {
		zbarimg := need.Tool(t, "zbarimg")
		read := 0
		for _, p := range pictures {
			data, err := p.png()
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), "paper.png")
			require.NoError(t, os.WriteFile(file, data, 0o600))
			said, err := exec.CommandContext(t.Context(), zbarimg, "-q", "--raw", file).Output()
			if p.code == "" {
				require.Error(t, err, "%s has no code: %s", p.name, said)
				continue
			}
			require.NoError(t, err, p.name)
			require.Equal(t, p.code+"\n", string(said), p.name)
			read++
		}
		require.Equal(t, 2*3*len(codes), read)
	})
}

// picture is the paper of a receipt, and what its code says; "" = it has none.
type picture struct {
	name, code string
	png        func() ([]byte, error)
}

// undump reads what hex.Dump wrote.
func undump(t *testing.T, dump []byte) (data []byte) {
	t.Helper()
	for line := range strings.Lines(string(dump)) {
		b, err := hex.DecodeString(strings.Join(strings.Fields(line[9:59]), ""))
		require.NoError(t, err)
		data = append(data, b...)
	}
	return data
}
