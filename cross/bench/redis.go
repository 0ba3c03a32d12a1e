package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// redis is a redis-server that syncs its log before each answer.
type redis struct {
	cmd   *exec.Cmd
	conns chan *redisConn
	all   []*redisConn
}

type redisConn struct {
	net.Conn
	r *bufio.Reader
}

// startRedis starts one with its log in dir and a connection for each caller.
func startRedis(ctx context.Context, bin, dir string, callers int) (_ *redis, err error) {
	// The path of a unix socket is short.
	talk, err := os.MkdirTemp("", "redis-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(talk)) }()
	sock := filepath.Join(talk, "sock")
	s := &redis{conns: make(chan *redisConn, callers)}
	s.cmd = exec.CommandContext(ctx, bin, "--port", "0", "--unixsocket", sock, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--save", "",
		"--auto-aof-rewrite-percentage", "0")
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	var d net.Dialer
	for began := time.Now(); len(s.all) < callers; {
		c, err := d.DialContext(ctx, "unix", sock)
		if err != nil {
			if time.Since(began) > 20*time.Second {
				return nil, fmt.Errorf("redis does not answer: %w", err)
			}
			<-time.After(10 * time.Millisecond)
			continue
		}
		one := &redisConn{c, bufio.NewReader(c)}
		s.all = append(s.all, one)
		s.conns <- one
	}
	return s, nil
}

func (s *redis) close() error {
	for _, c := range s.all {
		_ = c.Close()
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	return nil
}

// push adds an element to a list; the answer comes after the sync.
func (s *redis) push(value []byte) error {
	c := <-s.conns
	defer func() { s.conns <- c }()
	if _, err := fmt.Fprintf(c, "*3\r\n$5\r\nRPUSH\r\n$5\r\nqueue\r\n$%d\r\n%s\r\n", len(value), value); err != nil {
		return err
	}
	line, err := c.r.ReadString('\n')
	if err == nil && line[0] != ':' {
		err = fmt.Errorf("redis says %q", line)
	}
	return err
}
