import { Consumer, ProduceAcks, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import { complain, pause, RECORDS, roleOf, state, tell } from './telling.mjs'

const settings = (bootstrapBrokers, clientId) => ({ bootstrapBrokers, clientId, retries: 60, retryDelay: 500 })
const writer = { serializers: stringSerializers, idempotent: true, acks: ProduceAcks.ALL }

async function produce (brokers, topic) {
  const producer = new Producer({ ...settings(brokers, 'producer'), ...writer })
  for (let number = 0; !state.isEnded; number++) {
    const value = String(number)
    try {
      await producer.send({ messages: [{ topic, key: value, value }] })
      tell('sent', value)
    } catch (error) {
      complain(error)
    }
    await pause()
  }
  await producer.close()
}

async function consume (brokers, topic) {
  const consumer = new Consumer({
    ...settings(brokers, 'consumer'), groupId: `readers-of-${topic}`, deserializers: stringDeserializers
  })
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: true })
  stream.on('error', complain)
  stream.on('data', message => tell('read', message.partition, message.offset, message.value))
  while (!state.isEnded) await pause(100)
  await stream.close()
  await consumer.close(true)
}

async function transact (brokers, topic) {
  const producer = new Producer({ ...settings(brokers, 'writer'), ...writer, transactionalId: `writer-of-${topic}` })
  for (let number = 0; !state.isEnded; number++) {
    const transaction = await producer.beginTransaction()
    let isCommit = number % 3 !== 2
    try {
      for (let at = 0; at < RECORDS; at++) {
        await transaction.send({ messages: [{ topic, key: String(at), value: `${number}-${at}` }] })
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
      await transaction.cancel()
    }
  }
  await producer.close()
}

await roleOf({ produce, consume, transact })
