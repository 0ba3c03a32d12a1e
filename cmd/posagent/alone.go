package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"posagent/agent/control/socket"
	"posagent/store"
)

// aloneWithin is how long a start waits for the end of the process before it.
const aloneWithin = 3 * time.Second

// alone keeps a second terminal of this machine from selling with a copy of the journal: both would ask the backend under the same keys.
// A copy on another box is known by the marks of the box, and one in another directory of this box, beside nothing, goes on as the
// journal. It holds a name that the kernel forgets with the process, and that is made of what both have.
func alone(ctx context.Context, db store.Journal, beside store.Beside) (io.Closer, error) {
	generation, err := db.Generation(ctx)
	if err != nil {
		return nil, storeError(err)
	}
	mac := hmac.New(sha256.New, beside.Secret)
	fmt.Fprintf(mac, "posagent journal runs 1\x00%d", generation)
	name := "@posagent-" + hex.EncodeToString(mac.Sum(nil)[:16])
	for until := time.Now().Add(aloneWithin); ; {
		var lc net.ListenConfig
		l, err := lc.Listen(context.WithoutCancel(ctx), "unix", name)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) || !ours(ctx, name) { // the name is no secret here: a stranger keeps no terminal from starting
			return io.NopCloser(nil), nil
		}
		if time.Now().After(until) {
			return nil, fail(exitRefused, "another terminal of this machine runs with a copy of this journal, and both would sell under the same ids "+
				"(end one of the two; posagent help reset tells how a copy becomes a terminal of its own)")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ours reports whether this account, or root, holds a name.
func ours(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", name)
	if err != nil {
		return true // it ends just now
	}
	defer conn.Close()
	peer, err := socket.Peer(conn)
	return err == nil && (peer.Uid == 0 || int(peer.Uid) == os.Geteuid())
}
