package control

import (
	"context"
	"net/url"
	"strconv"

	"posagent/ecr/receipt"
	"posagent/schemes/wire"
)

// Print prints a copy of a sale's receipt. waits is why it is not on paper yet; "" = it is.
func (c *Client) Print(ctx context.Context, sale wire.Key, which receipt.Copy) (waits string, err error) {
	v, err := c.exchange(ctx, "/sales/"+url.PathEscape(string(sale))+"/print", "print", asked{Copy: which})
	return v.Waits, err
}

// PrintDay is Print of the slip of a closed batch.
func (c *Client) PrintDay(ctx context.Context, batch int) (waits string, err error) {
	v, err := c.exchange(ctx, "/batches/"+strconv.Itoa(batch)+"/print", "print", asked{})
	return v.Waits, err
}

// PrintTest is Print of a page that tells which settings the printer needs.
func (c *Client) PrintTest(ctx context.Context) (waits string, err error) {
	v, err := c.exchange(ctx, "/print-test", "print", asked{})
	return v.Waits, err
}

// CloseDay closes the open batch, and returns its number.
func (c *Client) CloseDay(ctx context.Context) (batch int, err error) {
	v, err := c.exchange(ctx, "/batches/close", "close", asked{})
	return v.Batch, err
}
