package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

func saramaConfig() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Idempotent = true
	config.Producer.Return.Successes = true
	config.Producer.Retry.Max = 300
	config.Net.MaxOpenRequests = 1
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.RackID = rack()
	return config
}

func saramaProduce(bootstrap []string, topic string) {
	producer, err := sarama.NewAsyncProducer(bootstrap, saramaConfig())
	if err != nil {
		panic(err)
	}
	done := make(chan bool)
	go func() {
		for message := range producer.Successes() {
			value, _ := message.Value.Encode()
			tell("sent", string(value))
		}
		done <- true
	}()
	go func() {
		for err := range producer.Errors() {
			complain(err)
		}
		done <- true
	}()
	for number := 0; !ended.Load(); number++ {
		value := sarama.StringEncoder(strconv.Itoa(number))
		producer.Input() <- &sarama.ProducerMessage{Topic: topic, Key: value, Value: value}
		time.Sleep(pause)
	}
	producer.AsyncClose()
	<-done
	<-done
}

type saramaReader struct{}

func (saramaReader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (saramaReader) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (saramaReader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		tell("read", message.Partition, message.Offset, string(message.Value))
		session.MarkMessage(message, "")
	}
	return nil
}

func saramaConsume(bootstrap []string, topic string) {
	group, err := sarama.NewConsumerGroup(bootstrap, "readers-of-"+topic, saramaConfig())
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for !ended.Load() {
			time.Sleep(100 * time.Millisecond)
		}
		cancel()
	}()
	for ctx.Err() == nil {
		if err := group.Consume(ctx, []string{topic}, saramaReader{}); err != nil {
			complain(err)
			time.Sleep(200 * time.Millisecond)
		}
	}
	group.Close()
}

func saramaTransact(bootstrap []string, topic string) {
	config := saramaConfig()
	config.Producer.Transaction.ID = "writer-of-" + topic
	producer, err := sarama.NewSyncProducer(bootstrap, config)
	if err != nil {
		panic(err)
	}
	for number := 0; !ended.Load(); number++ {
		if err := producer.BeginTxn(); err != nil {
			panic(err)
		}
		isCommit := number%3 != 2
		for at := 0; at < records && isCommit == (number%3 != 2); at++ {
			_, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic,
				Key:   sarama.StringEncoder(strconv.Itoa(at)),
				Value: sarama.StringEncoder(fmt.Sprintf("%d-%d", number, at))})
			if err != nil {
				complain(err)
				isCommit = false
				break
			}
			time.Sleep(pause)
		}
		saramaEnd(producer, number, isCommit)
	}
	producer.Close()
}

func saramaEnd(producer sarama.SyncProducer, number int, isCommit bool) {
	for {
		var err error
		if isCommit {
			err = producer.CommitTxn()
		} else {
			err = producer.AbortTxn()
		}
		if err == nil {
			break
		}
		complain(err)
		if producer.TxnStatus()&sarama.ProducerTxnFlagFatalError != 0 {
			tell("unknown", number)
			panic(err)
		}
		if producer.TxnStatus()&sarama.ProducerTxnFlagAbortableError != 0 {
			isCommit = false
		}
		time.Sleep(100 * time.Millisecond)
	}
	if isCommit {
		tell("committed", number)
	} else {
		tell("aborted", number)
	}
}
