package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/control"
	"posagent/agent/records/audit"
	"posagent/agent/view"
	"posagent/device/file"
	"posagent/store"
)

const exportPage = 500

// exported is one line of an export after the first (posagent.export/1).
type exported struct {
	Type      string          `json:"type"` // sale, event, operation
	Sale      *view.Sale      `json:"sale,omitempty"`
	Operation *view.Operation `json:"operation,omitempty"`
	Event     *exportedEvent  `json:"event,omitempty"`
}

// exportedEvent is one line of a sale's history.
type exportedEvent struct {
	Sale string `json:"saleId"`
	view.Entry
}

// exportView is what an export says of itself, and its first line.
type exportView struct {
	Schema     string    `json:"schema"` // posagent.export/1
	Created    time.Time `json:"created"`
	Terminal   string    `json:"terminal"`
	Generation int64     `json:"generation"`
	File       string    `json:"file,omitempty"`
	Sales      int       `json:"sales"`
	Operations int       `json:"operations"`
	Events     int       `json:"events"`
}

func runExport(ctx context.Context, c *call, path string) error {
	if err := mayReplace(path); err != nil {
		return err
	}
	head, err := describe(ctx, c)
	if err != nil {
		return err
	}
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	noteDeed(ctx, c, audit.Deed{Deed: control.Export, Subject: filepath.Base(path)})
	v := exportView{Schema: "posagent.export/1", Created: time.Now().UTC(), Terminal: head.Terminal, Generation: head.Generation}
	say := progress(c)
	var broken, unread error // of the file; of the journal
	err = file.Replace(path, 0o600, func(to *os.File) error {
		buffered := bufio.NewWriter(to)
		enc := json.NewEncoder(buffered)
		enc.SetEscapeHTML(false)
		put := func(line any) error {
			broken = enc.Encode(line)
			return broken
		}
		err := db.Read(ctx, func(r store.Reader) error { // one snapshot for all
			count := v
			if err := r.QueryRow(`SELECT (SELECT COUNT(*) FROM checkout_sales), (SELECT COUNT(*) FROM outbox_ops), (SELECT COUNT(*) FROM checkout_entries)`).
				Scan(&count.Sales, &count.Operations, &count.Events); err != nil {
				return err
			}
			if err := put(count); err != nil {
				return err
			}
			all := int64(count.Sales + count.Operations)
			if err := exportSales(ctx, r, &v, put, func() { say("exported", int64(v.Sales), all) }); err != nil {
				return err
			}
			return view.EachOperation(r, func(op view.Operation) error {
				v.Operations++
				say("exported", int64(v.Sales+v.Operations), all)
				if err := ctx.Err(); err != nil {
					return err
				}
				return put(exported{Type: "operation", Operation: &op})
			})
		})
		switch {
		case err == nil:
			broken = buffered.Flush()
			return broken
		case broken == nil:
			unread = err
		}
		return err
	})
	switch {
	case unread != nil:
		return storeError(unread)
	case broken != nil:
		return wroteNot(path, broken)
	case err != nil:
		return wroteNot(path, err)
	}
	v.File = path
	if c.json {
		return printJSON(c.out, v)
	}
	fmt.Fprintf(c.out, "%s: %d sales, %d events, %d operations of %s\n", path, v.Sales, v.Events, v.Operations, v.Terminal)
	return nil
}

func exportSales(ctx context.Context, r store.Reader, v *exportView, put func(any) error, said func()) error {
	for after := int64(0); ; {
		rows, err := journal.SalesAfter(r, after, exportPage)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.ID
			sale := view.SaleOf(row)
			if err := put(exported{Type: "sale", Sale: &sale}); err != nil {
				return err
			}
			history, err := journal.History(r, row.Key)
			if err != nil {
				return err
			}
			for _, e := range history {
				event := exportedEvent{sale.ID, view.Entry{At: time.UnixMilli(e.AtMS).UTC(), Loud: e.Loud, Text: e.Text}}
				if err := put(exported{Type: "event", Event: &event}); err != nil {
					return err
				}
				v.Events++
			}
			v.Sales++
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		said()
		if len(rows) < exportPage {
			return nil
		}
	}
}
