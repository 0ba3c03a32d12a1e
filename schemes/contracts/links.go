package contracts

import (
	"reflect"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

type (
	// success is the envelope of every answer of payment links.
	success[T any] struct {
		Status    string        `json:"status"`
		Data      []T           `json:"data"`
		Operation *wire.Pending `json:"operation,omitempty"`
	}
	checked struct {
		ID int64 `json:"id"`
	}
	// linkDone is the reduced record of a charge, capture or refund.
	linkDone struct {
		ID     int64           `json:"id"`
		UUID   string          `json:"uuid"`
		Time   string          `json:"time"`
		Status paylinks.Status `json:"status"`
		Lang   string          `json:"lang"`
		PSP    string          `json:"psp"`
	}
)

// listing is what picks transactions of a list (S1 4.1); the service reads it by a codec of its own.
type listing struct {
	After  string `query:"filterDatetimeUtcGreaterThan" json:"-"`
	Before string `query:"filterDatetimeUtcLessThan" json:"-"`
	Offset int32  `query:"offset" json:"-"`
	Limit  int32  `query:"limit" json:"-"`
}

// linkAnswers are the answers of payment links as they are on the wire, in their envelope.
var linkAnswers = map[string]reflect.Type{
	"paylinks.check":       reflect.TypeFor[success[checked]](),
	"paylinks.create":      reflect.TypeFor[success[paylinks.Link]](),
	"paylinks.read":        reflect.TypeFor[success[paylinks.Link]](),
	"paylinks.delete":      reflect.TypeFor[success[checked]](),
	"paylinks.list":        reflect.TypeFor[success[paylinks.Transaction]](),
	"paylinks.transaction": reflect.TypeFor[success[paylinks.Transaction]](),
	"paylinks.charge":      reflect.TypeFor[success[linkDone]](),
	"paylinks.capture":     reflect.TypeFor[success[linkDone]](),
	"paylinks.refund":      reflect.TypeFor[success[linkDone]](),
	"paylinks.cancel":      reflect.TypeFor[success[checked]](),
}

// linkInfos is the table with what the service's shape adds: the account in each query, and the envelope of each answer.
func linkInfos() []rest.Info {
	list := paylinks.Table().Infos()
	var too rest.Info // the other path of a charge, which no client writes and so no table has
	for n := range list {
		i := &list[n]
		if i.Op == "paylinks.list" {
			i.Params = Describe[listing, none](i.Op, i.What, i.Method, i.Path, 0).Params
		}
		i.Params = append(i.Params[:len(i.Params):len(i.Params)], rest.Param{Name: paylinks.InstanceParam, Place: "query", Type: reflect.TypeFor[string](), Max: rest.MaxID})
		if i.Out = linkAnswers[i.Op]; i.Out == nil {
			panic("contracts: " + i.Op + ": its answer is not described")
		}
		if i.Op == "paylinks.charge" || i.Op == "paylinks.refund" { // all of it
			i.Wants |= rest.MayBody
		}
		if i.Op == "paylinks.charge" {
			too = *i
		}
	}
	too.Path += "charge"
	return append(list, too)
}
