import kafkajs from 'kafkajs'
import { complain, pause, RECORDS, roleOf, state, tell } from './telling.mjs'

const { Kafka, logLevel } = kafkajs
const connect = brokers => new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 60, maxRetryTime: 2000 } })

async function produce (brokers, topic) {
  const producer = connect(brokers).producer({ idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  for (let number = 0; !state.isEnded; number++) {
    const value = String(number)
    try {
      await producer.send({ topic, acks: -1, messages: [{ key: value, value }] })
      tell('sent', value)
    } catch (error) {
      complain(error)
    }
    await pause()
  }
  await producer.disconnect()
}

async function consume (brokers, topic) {
  const consumer = connect(brokers).consumer({ groupId: `readers-of-${topic}`, rackId: process.argv[5] })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message }) => tell('read', partition, message.offset, message.value.toString())
  })
  while (!state.isEnded) await pause(100)
  await consumer.disconnect()
}

async function transact (brokers, topic) {
  const producer = connect(brokers).producer({ idempotent: true, maxInFlightRequests: 1, transactionalId: `writer-of-${topic}` })
  await producer.connect()
  for (let number = 0; !state.isEnded; number++) {
    const transaction = await producer.transaction()
    let isCommit = number % 3 !== 2
    try {
      for (let at = 0; at < RECORDS; at++) {
        await transaction.send({ topic, acks: -1, messages: [{ key: String(at), value: `${number}-${at}` }] })
        await pause()
      }
    } catch (error) {
      complain(error)
      isCommit = false
    }
    try {
      await (isCommit ? transaction.commit() : transaction.abort())
      tell(isCommit ? 'committed' : 'aborted', number)
    } catch (error) {
      complain(error)
      tell('unknown', number)
      if (transaction.isActive()) await transaction.abort()
    }
  }
  await producer.disconnect()
}

await roleOf({ produce, consume, transact })
