package disputes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/disputes"
	"posagent/schemes/wire"
	"posagent/store"
)

// file is a document that was uploaded. Its content lies in sealed pieces, so that none ever stands in memory as a whole.
type file struct {
	place      int // in the request
	id         string
	doc        disputes.Document
	code, text string // why it is not taken
}

// upload stores the contents of a request's documents before its case; the case's own commit claims them.
func (c *Cases) upload(ctx context.Context, list []disputes.Document) ([]file, error) {
	var out []file
	for i, d := range list {
		f := file{place: i, doc: d}
		if f.code, f.text = disputes.Takes(d); f.code == "" {
			f.id = room.Name(16)
			if err := c.store(ctx, f); err != nil {
				c.drop(ctx, append(out, f))
				return nil, fmt.Errorf("store document: %w", err)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func at(document string, seq int64) store.Cell {
	return store.Cell{Table: "cases_file", Key: document, Column: strconv.FormatInt(seq, 10)}
}

func (c *Cases) store(ctx context.Context, f file) error {
	short := wire.Errorf(wire.Invalid, "", "documentsList: shorter than said")
	return c.Upload(ctx, f.doc.Binary.Open, f.doc.Binary.Size, short, func(tx store.Tx, seq int64, data []byte, now time.Time) error {
		if err := sweep(tx, now); err != nil {
			return err
		}
		sealed, err := c.DB.Seal(tx, at(f.id, seq), data)
		if err == nil {
			_, err = tx.Exec(`INSERT INTO cases_file (document, seq, data, claimed, at_ms) VALUES (?, ?, ?, 0, ?)`, f.id, seq, sealed, now.UnixMilli())
		}
		return err
	})
}

// sweep drops what waited too long.
func sweep(tx store.Tx, now time.Time) error {
	_, err := tx.Exec(`DELETE FROM cases_file WHERE claimed = 0 AND at_ms < ?`, now.Add(-room.Unclaimed).UnixMilli())
	return err
}

// drop takes back what no case claimed. Where that fails, sweep does it later.
func (c *Cases) drop(ctx context.Context, files []file) {
	if len(files) == 0 {
		return
	}
	err := c.DB.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
		for _, f := range files {
			if _, err := tx.Exec(`DELETE FROM cases_file WHERE document = ? AND claimed = 0`, f.id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.Log.Warn("unclaimed documents stay for a while", "err", err)
	}
}

// claim gives a case its documents, and says which were not taken.
func (r *row) claim(tx store.Tx, files []file, now time.Time) (refused []disputes.DocumentError, err error) {
	refused = []disputes.DocumentError{}
	for _, f := range files {
		if f.code == "" && f.doc.ID != "" {
			var n int64
			err := tx.QueryRow(`SELECT COUNT(*) FROM cases_document WHERE number = ? AND name = ? OR id = ?`, r.number, f.doc.ID, f.doc.ID).Scan(&n)
			if err != nil {
				return nil, fmt.Errorf("look for document: %w", err)
			}
			if n > 0 {
				f.code, f.text = disputes.DocumentTwice, "there is a document of this id"
			}
		}
		if f.code != "" {
			refused = append(refused, disputes.DocumentError{ClaimID: strconv.FormatInt(r.number, 10), Code: f.code, DocumentID: f.doc.ID,
				Text: fmt.Sprintf("documentsList[%d]: %s", f.place, f.text)})
			continue
		}
		_, err := tx.Exec(`INSERT INTO cases_document (id, number, name, kind, mime, size, sha256, at_ms, place)
			SELECT ?, ?, ?, ?, ?, ?, ?, ?, COUNT(*) FROM cases_document WHERE number = ?`,
			f.id, r.number, f.doc.ID, f.doc.Type, f.doc.MimeType, f.doc.Binary.Size, f.doc.Binary.SHA256, now.UnixMilli(), r.number)
		var pieces sql.Result
		if err == nil {
			pieces, err = tx.Exec(`UPDATE cases_file SET claimed = 1 WHERE document = ?`, f.id)
		}
		if err == nil {
			err = room.Claimed(pieces, f.doc.Binary.Size)
		}
		if err != nil {
			return nil, fmt.Errorf("claim document: %w", err)
		}
	}
	return refused, nil
}

// documents lists those of a case, the oldest first.
func documents(rd store.Reader, number int64) ([]disputes.DocumentInfo, error) {
	list := []disputes.DocumentInfo{}
	err := store.Each(rd, func(row store.Row) error {
		var d disputes.DocumentInfo
		var mime string
		var ms int64
		err := row.Scan(&d.ID, &d.Description, &d.Type, &mime, &ms)
		if d.Description == "" {
			d.Description = mime
		}
		d.Updated, d.User = stamp(ms), issuer
		list = append(list, d)
		return err
	}, `SELECT id, name, kind, mime, at_ms FROM cases_document WHERE number = ? ORDER BY at_ms, place`, number)
	if err != nil {
		return nil, fmt.Errorf("read documents of %d: %w", number, err)
	}
	return list, nil
}

// Document implements disputes.Service.
func (c *Cases) Document(ctx context.Context, documentID string, limit int64) (out disputes.File, err error) {
	if err := disputes.CheckDocumentID(documentID); err != nil {
		return out, err
	}
	var id, name, mime, sum string
	var size int64
	err = c.DB.Read(ctx, func(rd store.Reader) error {
		called, args := ` FROM cases_document WHERE (id = ? OR name = ?)`, []any{documentID, documentID}
		if own, more := room.Own(rd, resource, "cases_document.number"); own != "" {
			called, args = called+" AND "+own, append(args, more...)
		}
		var n int64
		if err := rd.QueryRow(`SELECT COUNT(*)`+called, args...).Scan(&n); err != nil {
			return err
		}
		switch n {
		case 0:
			return none(opDocument, "document")
		case 1:
			return rd.QueryRow(`SELECT id, name, mime, size, sha256`+called, args...).Scan(&id, &name, &mime, &size, &sum)
		}
		return wire.Errorf(wire.Conflict, opDocument, "%d documents are called so: ask by the id that the case's list gives", n)
	})
	switch {
	case err != nil:
		return out, wire.AsError(opDocument, err)
	case limit > 0 && size > limit:
		return out, wire.Errorf(wire.TooLarge, opDocument, "the document has %d bytes", size)
	}
	if name == "" {
		name = id
	}
	return disputes.File{
		Name: disputes.PlainName(name), Description: mime, Close: func() error { return nil },
		Content: disputes.Binary{Size: size, SHA256: sum, Open: func() (io.ReadCloser, error) { return &content{c: c, ctx: ctx, id: id}, nil }},
	}, nil
}

// content reads a document piece by piece.
type content struct {
	c    *Cases
	ctx  context.Context // of the call that asked for the document
	id   string
	seq  int64
	data []byte
}

// Read implements io.Reader.
func (r *content) Read(p []byte) (int, error) {
	for len(r.data) == 0 {
		err := r.c.DB.Read(r.ctx, func(rd store.Reader) error {
			var sealed []byte
			err := rd.QueryRow(`SELECT data FROM cases_file WHERE document = ? AND seq = ?`, r.id, r.seq).Scan(&sealed)
			if err == nil {
				r.data, err = r.c.DB.Unseal(rd, at(r.id, r.seq), sealed)
			}
			return err
		})
		if errors.Is(err, sql.ErrNoRows) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, fmt.Errorf("read document: %w", err)
		}
		r.seq++
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}

// Close implements io.Closer.
func (r *content) Close() error { return nil }
