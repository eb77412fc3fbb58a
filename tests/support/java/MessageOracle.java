package interop;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;

/** Kafka's generated message classes: JSON to bytes and back, for any class and version. */
final class MessageOracle {
    private static final String CONVERTER = "JsonConverter";
    private static final Map<String, MessageOracle> KNOWN = new HashMap<>();

    private final Class<?> type;
    private final Method read;
    private final Method write;
    private final short lowest;
    private final short highest;

    private MessageOracle(String className) throws ReflectiveOperationException {
        type = Class.forName(className);
        Class<?> converter = Class.forName(className + CONVERTER);
        read = converter.getMethod("read", JsonNode.class, short.class);
        write = converter.getMethod("write", type, short.class, boolean.class);
        Message message = newMessage();
        lowest = message.lowestSupportedVersion();
        highest = message.highestSupportedVersion();
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("message.encode", question -> of(question).encode(question));
        operations.put("message.encode_prefixed", question -> of(question).encodePrefixed(question));
        operations.put("message.decode", question -> of(question).decode(question));
        operations.put("message.classes", question -> classes());
        MessageLayouts.register(operations);
    }

    private static MessageOracle of(JsonNode question) throws ReflectiveOperationException {
        String name = question.path("class").asText();
        MessageOracle known = KNOWN.get(name);
        if (known == null) {
            known = new MessageOracle(name);
            KNOWN.put(name, known);
        }
        return known;
    }

    private JsonNode encode(JsonNode question) throws Exception {
        short version = supportedVersion(question);
        short jsonVersion = (short) question.path("json_version").asInt(version);
        Message message = (Message) call(read, question.path("json"), jsonVersion);
        ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, version).buffer();
        return Oracle.JSON.createObjectNode().put("bytes", MessageUtil.byteBufferToArray(bytes));
    }

    /** As Kafka stores it: keys of a coordinator behind their type, all else behind its version. */
    private JsonNode encodePrefixed(JsonNode question) throws Exception {
        short version = supportedVersion(question);
        Message message = (Message) call(read, question.path("json"), version);
        byte[] bytes = type.getSimpleName().endsWith("Key")
            ? MessageUtil.toCoordinatorTypePrefixedBytes((ApiMessage) message)
            : MessageUtil.toVersionPrefixedBytes(version, message);
        return Oracle.JSON.createObjectNode().put("bytes", bytes);
    }

    private JsonNode decode(JsonNode question) throws Exception {
        short version = supportedVersion(question);
        ByteBuffer bytes = ByteBuffer.wrap(question.path("bytes").binaryValue());
        Message message = newMessage();
        message.read(new ByteBufferAccessor(bytes), version);
        JsonNode json = (JsonNode) call(write, message, version, true);
        fillInRecords(message, json);
        ObjectNode answer = Oracle.JSON.createObjectNode();
        answer.set("json", json);
        return answer.put("unread", bytes.remaining());
    }

    private Message newMessage() throws ReflectiveOperationException {
        return (Message) type.getConstructor().newInstance();
    }

    /** The generated code leaves this check to its callers. */
    private short supportedVersion(JsonNode question) {
        JsonNode version = question.path("version");
        if (!version.isInt() || version.intValue() < lowest || version.intValue() > highest)
            throw new UnsupportedVersionException(
                type.getName() + " has versions " + lowest + " to " + highest + ", not " + version);
        return (short) version.intValue();
    }

    /** Kafka's converters write every `records` field as empty; put what was read in its place. */
    private static void fillInRecords(Object value, JsonNode json)
            throws ReflectiveOperationException {
        if (json.isArray() && value instanceof Iterable<?> elements) {
            Iterator<?> element = elements.iterator();
            for (JsonNode child : json)
                fillInRecords(element.next(), child);
        } else if (json.isObject()) {
            for (Map.Entry<String, JsonNode> field : ((ObjectNode) json).properties())
                fillInField(value, (ObjectNode) json, field);
        }
    }

    private static void fillInField(
            Object owner, ObjectNode json, Map.Entry<String, JsonNode> field)
            throws ReflectiveOperationException {
        JsonNode child = field.getValue();
        if (!child.isContainerNode() && !child.isBinary())
            return;
        Object value = owner.getClass().getMethod(field.getKey()).invoke(owner);
        if (value instanceof BaseRecords records)
            field.setValue(json.binaryNode(
                MessageUtil.byteBufferToArray(((MemoryRecords) records).buffer())));
        else
            fillInRecords(value, child);
    }

    /** Invoke, and throw what was thrown there instead of its wrapping. */
    private static Object call(Method method, Object... arguments) throws Exception {
        try {
            return method.invoke(null, arguments);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof Exception cause)
                throw cause;
            throw error;
        }
    }

    /** Every message class in the class path, with the versions it supports. */
    private static JsonNode classes() throws Exception {
        ArrayNode answer = Oracle.JSON.createArrayNode();
        for (String name : classNames()) {
            MessageOracle known = new MessageOracle(name);
            answer.addObject().put("class", name)
                .put("lowest", known.lowest).put("highest", known.highest);
        }
        return answer;
    }

    private static Set<String> classNames() throws IOException {
        Set<String> names = new TreeSet<>();
        String suffix = CONVERTER + ".class";
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!path.endsWith(".jar") || !new File(path).getName().startsWith("kafka"))
                continue;
            try (ZipFile jar = new ZipFile(path)) {
                for (ZipEntry entry : Collections.list(jar.entries())) {
                    String name = entry.getName();
                    if (name.endsWith(suffix) && !name.contains("$"))
                        names.add(name.replace(suffix, "").replace('/', '.'));
                }
            }
        }
        return names;
    }
}
