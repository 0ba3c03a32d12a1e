package hosted

import (
	"encoding/json"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// CustomerInfo is the cardholder (S2 2.2).
type CustomerInfo struct {
	CardHolderName         string       `json:"cardHolderName,omitempty"`
	CardHolderEmail        string       `json:"cardHolderEmail,omitempty"`
	BillingAddress         *Address     `json:"billingAddress,omitempty"`
	ShippingAddress        *Address     `json:"shippingAddress,omitempty"`
	MobilePhoneCountryCode string       `json:"mobilePhoneCountryCode,omitempty"`
	MobilePhone            string       `json:"mobilePhone,omitempty"`
	HomePhone              string       `json:"homePhone,omitempty"`
	WorkPhone              string       `json:"workPhone,omitempty"`
	CardHolderAcctInfo     *AccountInfo `json:"cardHolderAcctInfo,omitempty"`
	MerchantRiskIndicator  *Risk        `json:"merchantRiskIndicator,omitempty"`
}

// Address is a postal address; Country is ISO 3166-1 alpha-3.
type Address struct {
	Name           string `json:"name,omitempty"`
	Street         string `json:"street,omitempty"`
	AdditionalInfo string `json:"additionalInfo,omitempty"`
	City           string `json:"city,omitempty"`
	PostCode       string `json:"postCode,omitempty"`
	Province       string `json:"province,omitempty"`
	Country        string `json:"country,omitempty"`
}

// AccountInfo is what the shop knows of its customer's account. Dates are ISO 8601.
type AccountInfo struct {
	ChAccDate                        string      `json:"chAccDate,omitempty"`
	ChAccAgeIndicator                string      `json:"chAccAgeIndicator,omitempty"`
	ChAccChangeDate                  string      `json:"chAccChangeDate,omitempty"`
	ChAccChangeIndicator             string      `json:"chAccChangeIndicator,omitempty"`
	ChAccPwChangeDate                string      `json:"chAccPwChangeDate,omitempty"`
	ChAccPwChangeIndicator           string      `json:"chAccPwChangeIndicator,omitempty"`
	NbPurchaseAccount                json.Number `json:"nbPurchaseAccount,omitempty"` // purchases in six months
	DestinationAddressUsageDate      string      `json:"destinationAddressUsageDate,omitempty"`
	DestinationAddressUsageIndicator string      `json:"destinationAddressUsageIndicator,omitempty"`
	DestinationNameIndicator         string      `json:"destinationNameIndicator,omitempty"`
	TxnActivityDay                   json.Number `json:"txnActivityDay,omitempty"`       // in 24 hours
	TxnActivityYear                  json.Number `json:"txnActivityYear,omitempty"`      // in the previous year
	ProvisionAttemptsDay             json.Number `json:"provisionAttemptsDay,omitempty"` // cards added in 24 hours
	SuspiciousAccActivity            string      `json:"suspiciousAccActivity,omitempty"`
	PaymentAccAgeDate                string      `json:"paymentAccAgeDate,omitempty"`
	PaymentAccIndicator              string      `json:"paymentAccIndicator,omitempty"`
}

// Risk is what the shop knows of the purchase.
type Risk struct {
	DeliveryEmail             string      `json:"deliveryEmail,omitempty"`
	DeliveryTimeframe         string      `json:"deliveryTimeframe,omitempty"`
	GiftCardAmount            *GiftCards  `json:"giftCardAmount,omitempty"`
	GiftCardCount             json.Number `json:"giftCardCount,omitempty"`
	PreOrderDate              string      `json:"preOrderDate,omitempty"` // ISO 8601
	PreOrderPurchaseIndicator string      `json:"preOrderPurchaseIndicator,omitempty"`
	ReorderItemsIndicator     string      `json:"reorderItemsIndicator,omitempty"`
	ShipIndicator             string      `json:"shipIndicator,omitempty"`
}

// GiftCards is the total of bought gift cards.
type GiftCards struct {
	Value    json.Number `json:"value"` // major units
	Currency string      `json:"currency"`
}

// Customer reads an order's customerInfo and applies every stateless rule to it: nil where there is none. The error is
// wire.Invalid. It is the service's own check: who passes an order through does not take the customer apart.
func (o Order) Customer() (*CustomerInfo, error) {
	switch string(o.CustomerInfo) {
	case "", "null", "[]": // the last is an empty object, as PHP writes it
		return nil, nil
	}
	var i CustomerInfo
	if err := wire.Decode(o.CustomerInfo, &i); err != nil {
		e := wire.AsError(build.Op, err)
		e.Reason, e.Msg = BadParameter, "order.customerInfo."+e.Msg
		return nil, e
	}
	if err := refused(build.Op, check.Request(build.Op, i)); err != nil {
		return nil, err
	}
	return &i, nil
}

// Encode writes a customer for an order or operation; nil writes none.
func (i *CustomerInfo) Encode() (json.RawMessage, error) {
	if i == nil {
		return nil, nil
	}
	return json.Marshal(i)
}

// Check implements check.Checked.
func (i CustomerInfo) Check(l *check.List) {
	const at = "order.customerInfo."
	l.First = true
	email(l, at+"cardHolderEmail", i.CardHolderEmail)
	type field struct {
		path, text string
		limit      int
	}
	list := []field{
		{"cardHolderName", i.CardHolderName, maxText},
		{"mobilePhoneCountryCode", i.MobilePhoneCountryCode, 4}, {"mobilePhone", i.MobilePhone, 15}, {"homePhone", i.HomePhone, 19}, {"workPhone", i.WorkPhone, 19},
	}
	for n, a := range [...]*Address{i.BillingAddress, i.ShippingAddress} {
		if a == nil {
			continue
		}
		p := [...]string{"billingAddress.", "shippingAddress."}[n]
		list = append(list, field{p + "name", a.Name, 50}, field{p + "street", a.Street, 50}, field{p + "additionalInfo", a.AdditionalInfo, 50},
			field{p + "city", a.City, 50}, field{p + "postCode", a.PostCode, 16}, field{p + "province", a.Province, 3})
		l.Country3(at+p+"country", a.Country)
	}
	dates := []field{}
	if a := i.CardHolderAcctInfo; a != nil {
		const p = "cardHolderAcctInfo."
		dates = append(dates, field{p + "chAccDate", a.ChAccDate, 0}, field{p + "chAccChangeDate", a.ChAccChangeDate, 0}, field{p + "chAccPwChangeDate", a.ChAccPwChangeDate, 0},
			field{p + "destinationAddressUsageDate", a.DestinationAddressUsageDate, 0}, field{p + "paymentAccAgeDate", a.PaymentAccAgeDate, 0})
		for _, s := range []string{a.ChAccAgeIndicator, a.ChAccChangeIndicator, a.ChAccPwChangeIndicator, a.DestinationAddressUsageIndicator, a.DestinationNameIndicator,
			a.SuspiciousAccActivity, a.PaymentAccIndicator, a.NbPurchaseAccount.String(), a.TxnActivityDay.String(), a.TxnActivityYear.String(), a.ProvisionAttemptsDay.String()} {
			list = append(list, field{"cardHolderAcctInfo", s, 16})
		}
	}
	if m := i.MerchantRiskIndicator; m != nil {
		const p = "merchantRiskIndicator."
		dates = append(dates, field{p + "preOrderDate", m.PreOrderDate, 0})
		email(l, at+p+"deliveryEmail", m.DeliveryEmail)
		for _, s := range []string{m.DeliveryTimeframe, m.PreOrderPurchaseIndicator, m.ReorderItemsIndicator, m.ShipIndicator, m.GiftCardCount.String()} {
			list = append(list, field{"merchantRiskIndicator", s, 16})
		}
		if g := m.GiftCardAmount; g != nil {
			list = append(list, field{p + "giftCardAmount", g.Value.String() + g.Currency, 32})
		}
	}
	for _, f := range list {
		text(l, at+f.path, f.text, f.limit)
	}
	for _, f := range dates {
		date(l, at+f.path, f.text)
	}
}
