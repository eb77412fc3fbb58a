package interop;

import java.io.File;
import java.util.Map;
import java.util.Properties;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.metadata.properties.MetaProperties;
import org.apache.kafka.metadata.properties.PropertiesUtils;
import org.apache.kafka.storage.internals.checkpoint.CleanShutdownFileHandler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.PartitionMetadataFile;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;

/** The small files of a log directory, read by the classes that a broker reads them with. */
final class FilesOracle {
    private FilesOracle() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("file.offset_checkpoint", FilesOracle::offsetCheckpoint);
        operations.put("file.leader_epochs", FilesOracle::leaderEpochs);
        operations.put("file.partition_metadata", FilesOracle::partitionMetadata);
        operations.put("file.meta_properties", FilesOracle::metaProperties);
        operations.put("file.clean_shutdown", FilesOracle::cleanShutdown);
    }

    private static JsonNode offsetCheckpoint(JsonNode question) throws Exception {
        ArrayNode answer = Oracle.JSON.createArrayNode();
        Map<TopicPartition, Long> offsets =
            new OffsetCheckpointFile(file(question), failures()).read();
        offsets.forEach((partition, offset) -> answer.addArray()
            .add(partition.topic()).add(partition.partition()).add(offset));
        return answer;
    }

    private static JsonNode leaderEpochs(JsonNode question) throws Exception {
        ArrayNode answer = Oracle.JSON.createArrayNode();
        for (EpochEntry entry : new LeaderEpochCheckpointFile(file(question), failures()).read())
            answer.addArray().add(entry.epoch()).add(entry.startOffset());
        return answer;
    }

    private static JsonNode partitionMetadata(JsonNode question) {
        PartitionMetadataFile metadata = new PartitionMetadataFile(file(question), failures());
        return Oracle.JSON.createObjectNode()
            .put("topic_id", metadata.read().topicId().toString());
    }

    private static JsonNode metaProperties(JsonNode question) throws Exception {
        Properties properties =
            PropertiesUtils.readPropertiesFile(file(question).getAbsolutePath());
        MetaProperties meta = new MetaProperties.Builder(properties).build();
        ObjectNode answer = Oracle.JSON.createObjectNode();
        answer.put("version", meta.version().number());
        meta.clusterId().ifPresent(id -> answer.put("cluster_id", id));
        meta.nodeId().ifPresent(id -> answer.put("node_id", id));
        meta.directoryId().ifPresent(id -> answer.put("directory_id", id.toString()));
        return answer;
    }

    private static JsonNode cleanShutdown(JsonNode question) {
        CleanShutdownFileHandler marker =
            new CleanShutdownFileHandler(file(question).getParent());
        ObjectNode answer = Oracle.JSON.createObjectNode().put("exists", marker.exists());
        marker.read().ifPresent(epoch -> answer.put("broker_epoch", epoch));
        return answer;
    }

    private static File file(JsonNode question) {
        return new File(question.path("path").asText());
    }

    private static LogDirFailureChannel failures() {
        return new LogDirFailureChannel(1);
    }
}
