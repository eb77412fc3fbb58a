package main

import (
	"context"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

// kafka-go neither numbers its batches nor has transactions: a record may be doubled.
func segmentProduce(bootstrap []string, topic string) {
	writer := &kafka.Writer{Addr: kafka.TCP(bootstrap...), Topic: topic, RequiredAcks: kafka.RequireAll,
		MaxAttempts: 100, BatchTimeout: 5 * time.Millisecond, Async: true,
		Completion: func(messages []kafka.Message, err error) {
			for _, message := range messages {
				if err != nil {
					complain(err)
				} else {
					tell("sent", string(message.Value))
				}
			}
		}}
	for number := 0; !ended.Load(); number++ {
		value := []byte(strconv.Itoa(number))
		if err := writer.WriteMessages(context.Background(), kafka.Message{Key: value, Value: value}); err != nil {
			complain(err)
		}
		time.Sleep(pause)
	}
	writer.Close()
}

func segmentConsume(bootstrap []string, topic string) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: bootstrap, GroupID: "readers-of-" + topic,
		Topic: topic, StartOffset: kafka.FirstOffset, MaxWait: 500 * time.Millisecond})
	for !ended.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		message, err := reader.ReadMessage(ctx)
		cancel()
		if err == nil {
			tell("read", message.Partition, message.Offset, string(message.Value))
		} else if err != context.DeadlineExceeded {
			complain(err)
		}
	}
	reader.Close()
}
