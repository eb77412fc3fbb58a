package interop;

import java.nio.ByteBuffer;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.CloseableIterator;

/** Kafka's record batches: built by Kafka, and read by Kafka with every check it makes. */
final class RecordsOracle {
    private RecordsOracle() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("records.build", RecordsOracle::build);
        operations.put("records.end_marker", RecordsOracle::endMarker);
        operations.put("records.read", RecordsOracle::read);
    }

    private static JsonNode build(JsonNode question) throws Exception {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
            ByteBuffer.allocate(question.path("buffer_bytes").asInt(1 << 16)),
            RecordBatch.MAGIC_VALUE_V2,
            Compression.of(question.path("codec").asText("none")).build(),
            TimestampType.forName(question.path("timestamp_type").asText("CreateTime")),
            question.path("base_offset").asLong(0),
            question.path("log_append_time").asLong(RecordBatch.NO_TIMESTAMP),
            question.path("producer_id").asLong(RecordBatch.NO_PRODUCER_ID),
            (short) question.path("producer_epoch").asInt(RecordBatch.NO_PRODUCER_EPOCH),
            question.path("base_sequence").asInt(RecordBatch.NO_SEQUENCE),
            question.path("is_transactional").asBoolean(false),
            false,
            question.path("leader_epoch").asInt(RecordBatch.NO_PARTITION_LEADER_EPOCH),
            Integer.MAX_VALUE);
        for (JsonNode record : question.path("records"))
            append(builder, record);
        return bytes(builder.build());
    }

    private static void append(MemoryRecordsBuilder builder, JsonNode record) throws Exception {
        long timestamp = record.path("timestamp").asLong();
        byte[] key = record.path("key").binaryValue();
        byte[] value = record.path("value").binaryValue();
        Header[] headers = HeadersJson.read(record.path("headers"));
        if (record.has("offset"))
            builder.appendWithOffset(
                record.path("offset").asLong(), timestamp, key, value, headers);
        else
            builder.append(timestamp, key, value, headers);
    }

    private static JsonNode endMarker(JsonNode question) {
        ControlRecordType type = question.path("is_commit").asBoolean()
            ? ControlRecordType.COMMIT : ControlRecordType.ABORT;
        return bytes(MemoryRecords.withEndTransactionMarker(
            question.path("base_offset").asLong(0),
            question.path("timestamp").asLong(),
            question.path("leader_epoch").asInt(RecordBatch.NO_PARTITION_LEADER_EPOCH),
            question.path("producer_id").asLong(),
            (short) question.path("producer_epoch").asInt(),
            new EndTransactionMarker(type, question.path("coordinator_epoch").asInt())));
    }

    private static JsonNode bytes(MemoryRecords records) {
        return Oracle.JSON.createObjectNode()
            .put("bytes", MessageUtil.byteBufferToArray(records.buffer()));
    }

    private static JsonNode read(JsonNode question) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(question.path("bytes").binaryValue());
        MemoryRecords records = MemoryRecords.readableRecords(bytes);
        ObjectNode answer = Oracle.JSON.createObjectNode();
        answer.put("unread", records.sizeInBytes() - records.validBytes());
        ArrayNode batches = answer.putArray("batches");
        for (MutableRecordBatch batch : records.batches())
            describe(batch, batches.addObject());
        return answer;
    }

    private static void describe(MutableRecordBatch batch, ObjectNode json) {
        batch.ensureValid();
        json.put("base_offset", batch.baseOffset()).put("last_offset", batch.lastOffset())
            .put("size_bytes", batch.sizeInBytes()).put("count", batch.countOrNull())
            .put("leader_epoch", batch.partitionLeaderEpoch()).put("crc", batch.checksum())
            .put("codec", batch.compressionType().name)
            .put("timestamp_type", batch.timestampType().name)
            .put("max_timestamp", batch.maxTimestamp())
            .put("producer_id", batch.producerId()).put("producer_epoch", batch.producerEpoch())
            .put("base_sequence", batch.baseSequence()).put("last_sequence", batch.lastSequence())
            .put("is_transactional", batch.isTransactional())
            .put("is_control", batch.isControlBatch());
        if (batch.deleteHorizonMs().isPresent())
            json.put("delete_horizon_ms", batch.deleteHorizonMs().getAsLong());
        ArrayNode records = json.putArray("records");
        try (CloseableIterator<Record> iterator =
                 batch.streamingIterator(BufferSupplier.NO_CACHING)) {
            while (iterator.hasNext())
                describe(iterator.next(), batch, records.addObject());
        }
    }

    private static void describe(Record record, RecordBatch batch, ObjectNode json) {
        record.ensureValid();
        json.put("offset", record.offset()).put("timestamp", record.timestamp())
            .put("sequence", record.sequence())
            .put("key", array(record.key())).put("value", array(record.value()));
        ArrayNode headers = json.putArray("headers");
        for (Header header : record.headers())
            headers.addArray().add(header.key()).add(header.value());
        if (!batch.isControlBatch())
            return;
        ControlRecordType type = ControlRecordType.parse(record.key());
        json.put("control_type", type.name());
        if (type == ControlRecordType.COMMIT || type == ControlRecordType.ABORT)
            json.put("coordinator_epoch",
                EndTransactionMarker.deserialize(record).coordinatorEpoch());
    }

    private static byte[] array(ByteBuffer buffer) {
        return buffer == null ? null : MessageUtil.byteBufferToArray(buffer);
    }
}
