package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func franzClient(bootstrap []string, options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(bootstrap...))...)
	if err != nil {
		panic(err)
	}
	return client
}

func franzProduce(bootstrap []string, topic string) {
	client := franzClient(bootstrap)
	defer client.Close()
	for number := 0; !ended.Load(); number++ {
		value := []byte(strconv.Itoa(number))
		client.Produce(context.Background(), &kgo.Record{Topic: topic, Key: value, Value: value},
			func(record *kgo.Record, err error) {
				if err != nil {
					complain(err)
				} else {
					tell("sent", string(record.Value))
				}
			})
		time.Sleep(pause)
	}
	client.Flush(context.Background())
}

func franzConsume(bootstrap []string, topic string) {
	client := franzClient(bootstrap, kgo.ConsumerGroup("readers-of-"+topic), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.Rack(rack()))
	defer client.Close()
	for !ended.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		fetches := client.PollFetches(ctx)
		cancel()
		fetches.EachError(func(_ string, _ int32, err error) {
			if err != context.DeadlineExceeded {
				complain(err)
			}
		})
		fetches.EachRecord(func(record *kgo.Record) {
			tell("read", record.Partition, record.Offset, string(record.Value))
		})
	}
}

func franzTransact(bootstrap []string, topic string) {
	client := franzClient(bootstrap, kgo.TransactionalID("writer-of-"+topic))
	defer client.Close()
	background := context.Background()
	for number := 0; !ended.Load(); number++ {
		if err := client.BeginTransaction(); err != nil {
			panic(err)
		}
		failed := false
		for at := 0; at < records; at++ {
			record := &kgo.Record{Topic: topic, Key: []byte(strconv.Itoa(at)),
				Value: []byte(fmt.Sprintf("%d-%d", number, at))}
			client.Produce(background, record, func(_ *kgo.Record, err error) {
				if err != nil {
					complain(err)
					failed = true
				}
			})
			time.Sleep(pause)
		}
		if err := client.Flush(background); err != nil {
			failed = true
		}
		isCommit := number%3 != 2 && !failed
		for {
			err := client.EndTransaction(background, kgo.TransactionEndTry(isCommit))
			if err == nil {
				break
			}
			complain(err)
		}
		if isCommit {
			tell("committed", number)
		} else {
			tell("aborted", number)
		}
	}
}
