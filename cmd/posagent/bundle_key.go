package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"os"

	"posagent/device/file"
)

// keyFileVar names the key file where no flag does.
const keyFileVar = "POSAGENT_BACKUP_KEY_FILE"

const (
	keyLeast = 16 // bytes of a bundle's secret
	keyMost  = 4096
)

// keyFlag registers the flag of the verbs that need the key.
func keyFlag(fs *flag.FlagSet, to *string) {
	fs.StringVar(to, "key-file", "", "`file` with the key of the bundle (default: the one "+keyFileVar+" names)")
}

// bundleSecret reads the key of a bundle.
func bundleSecret(path string) ([]byte, error) {
	if path == "" {
		path = os.Getenv(keyFileVar)
	}
	if path == "" {
		return nil, fail(exitUsage, "which key? (--key-file FILE, or %s)", keyFileVar)
	}
	f, info, err := file.Open(path, file.Follow)
	switch {
	case errors.Is(err, file.ErrIrregular):
		return nil, fail(exitRefused, "key file %v", err)
	case err != nil:
		return nil, fail(exitFailed, "key file: %v", err)
	}
	defer f.Close()
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fail(exitRefused, "key file %s may be read by others (chmod 600 %s)", path, path)
	}
	secret := make([]byte, keyMost+1)
	n, err := bufio.NewReader(f).Read(secret)
	if secret = bytes.TrimRight(secret[:n], "\r\n"); len(secret) < keyLeast || len(secret) > keyMost {
		return nil, fail(exitRefused, "key file %s holds %d bytes, wanted are %d to %d (head -c 32 /dev/urandom | base64 makes one)",
			path, len(secret), keyLeast, keyMost)
	}
	return secret, nil
}
