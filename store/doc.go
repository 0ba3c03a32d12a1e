// Package store is the engine under every table.
package store
