package ecrtest

import (
	"context"

	"posagent/schemes/money"
)

// once is a register of a protocol whose connections carry one request: it connects anew for each.
type once struct {
	connect func() (Register, error)
	next    Register // connected, and not used yet
	failed  error
}

func newOnce(connect func() (Register, error)) *once {
	o := &once{connect: connect}
	o.next, o.failed = connect()
	return o
}

// one is a register that has asked for nothing yet.
func (o *once) one() (Register, error) {
	one, err := o.next, o.failed
	o.next, o.failed = nil, nil
	if one == nil && err == nil {
		one, err = o.connect()
	}
	return one, err
}

// Pay implements Register.
func (o *once) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	one, err := o.one()
	if err != nil {
		return Answer{}, err
	}
	return one.Pay(ctx, amount, id)
}

// Again implements Register.
func (o *once) Again(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	one, err := o.one()
	if err != nil {
		return Answer{}, err
	}
	return one.Again(ctx, amount, id)
}

// Abort implements Register.
func (o *once) Abort(ctx context.Context) (bool, error) {
	one, err := o.one()
	if err != nil {
		return false, err
	}
	return one.Abort(ctx)
}

// EndOfDay implements Register.
func (o *once) EndOfDay(ctx context.Context) (bool, int, money.Minor, error) {
	one, err := o.one()
	if err != nil {
		return false, 0, 0, err
	}
	return one.EndOfDay(ctx)
}

// Close implements Register.
func (o *once) Close() error {
	if o.next != nil {
		return o.next.Close()
	}
	return nil
}
