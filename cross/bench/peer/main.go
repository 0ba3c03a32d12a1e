package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 4 {
		return fmt.Errorf("usage: peer DIR CALLERS OPS")
	}
	callers, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	ops, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	db, err := bbolt.Open(filepath.Join(os.Args[1], "peer.db"), 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	name := []byte("queue")
	if err := db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucketIfNotExists(name); return err }); err != nil {
		return err
	}
	db.MaxBatchSize, db.MaxBatchDelay = callers, time.Millisecond
	write := db.Batch
	if callers == 1 {
		write = db.Update
	}
	payload := make([]byte, 300)
	var next atomic.Int64
	took, failed := make([][]time.Duration, callers), make([]error, callers)
	var wg sync.WaitGroup
	began := time.Now()
	for c := range callers {
		wg.Go(func() {
			for next.Add(1) <= int64(ops) && failed[c] == nil {
				from := time.Now()
				failed[c] = write(func(tx *bbolt.Tx) error {
					b := tx.Bucket(name)
					id, err := b.NextSequence()
					if err != nil {
						return err
					}
					return b.Put(binary.BigEndian.AppendUint64(nil, id), payload)
				})
				took[c] = append(took[c], time.Since(from))
			}
		})
	}
	wg.Wait()
	all := time.Since(began)
	var one []time.Duration
	for c := range callers {
		if failed[c] != nil {
			return failed[c]
		}
		one = append(one, took[c]...)
	}
	slices.Sort(one)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"Rate": float64(ops) / all.Seconds(), "P50": one[len(one)/2], "P99": one[len(one)*99/100],
	})
}
