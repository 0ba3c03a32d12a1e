package links

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/room"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// file is an attachment of a link. Its content lies in pieces, so that none ever stands in memory as a whole.
type file struct {
	Name   string `json:"n"`
	Size   int64  `json:"s"`
	Upload string `json:"u"` // names the pieces
}

// upload stores the contents of a request's files before its link; the link's own commit claims them.
func (s *Links) upload(ctx context.Context, list []paylinks.Attachment) ([]file, error) {
	var out []file
	for _, a := range list {
		f := file{Name: a.Name, Size: a.Size, Upload: room.Name(16)}
		if err := s.store(ctx, f, a); err != nil {
			return nil, fmt.Errorf("store attachment: %w", err)
		}
		out = append(out, f)
	}
	return out, nil
}

func (s *Links) store(ctx context.Context, f file, a paylinks.Attachment) error {
	short := wire.Errorf(wire.Invalid, opCreate, "attachments: shorter than said")
	return s.Upload(ctx, a.Open, f.Size, short, func(tx store.Tx, seq int64, data []byte, now time.Time) error {
		if _, err := tx.Exec(`DELETE FROM links_file WHERE link IS NULL AND at_ms < ?`, now.Add(-room.Unclaimed).UnixMilli()); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO links_file (upload, seq, data, at_ms) VALUES (?, ?, ?, ?)`, f.Upload, seq, data, now.UnixMilli())
		return err
	})
}

// claim gives a new link its files.
func claim(tx store.Tx, l *link, list []file) error {
	for _, f := range list {
		if _, err := tx.Exec(`UPDATE links_file SET link = ? WHERE upload = ?`, l.ID, f.Upload); err != nil {
			return fmt.Errorf("claim attachment: %w", err)
		}
	}
	return nil
}

// files draws the list of a page's attachments.
func files(v view, l tongue) []pages.Node {
	var items []pages.Node
	for i, f := range v.options.Files {
		address := PagePrefix + url.PathEscape(v.slip.Hash) + "/file/" + strconv.Itoa(i)
		items = append(items, pages.E("li", nil, pages.E("a", []pages.Attr{pages.A("href", address), pages.A("download", f.Name)}, pages.T(f.Name))))
	}
	if items == nil {
		return nil
	}
	return []pages.Node{pages.Para("", l.say(wFiles)), pages.E("ul", nil, items...)}
}

// download sends an attachment. Whatever it says it is, a browser is told to keep it and never to show it.
func (s *Links) download(w http.ResponseWriter, r *http.Request) {
	l := speaks(r)
	v, err := s.view(r.Context(), r.PathValue("ref"))
	n, bad := strconv.Atoi(r.PathValue("n"))
	if err == nil && (bad != nil || n < 0 || n >= len(v.options.Files)) {
		err = wire.Errorf(wire.NotFound, opPay, "no such attachment")
	}
	if err != nil {
		s.sorry(w, l, "", err)
		return
	}
	f := v.options.Files[n]
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(f.Name))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	for seq := int64(0); ; seq++ {
		var data []byte
		err := s.DB.Read(r.Context(), func(rd store.Reader) error {
			return rd.QueryRow(`SELECT data FROM links_file WHERE upload = ? AND seq = ?`, f.Upload, seq).Scan(&data)
		})
		if errors.Is(err, sql.ErrNoRows) {
			return
		}
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			s.Log.Warn("attachment not sent", "link", v.slip.ID, "err", err)
			panic(http.ErrAbortHandler) // the length was promised: a shorter body must not look whole
		}
	}
}
